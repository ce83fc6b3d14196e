import { isJsonObject, parseJson, type Json } from '../../../text/json.ts';

type Schema = Readonly<Record<string, Json>>;

export function withSchema(prompt: string, schema: Schema): string {
  const how = 'End your turn with one JSON value that satisfies this JSON Schema, and with nothing before or after it:';
  return `${prompt}\n\n${how}\n${JSON.stringify(schema)}`;
}

export function repairOf(problem: string): string {
  return `${problem}. Send the corrected JSON value now, and nothing else. Do not do anything else.`;
}

/** The structured answer in a message, checked; or what is wrong with it. */
export async function structuredAnswer(
  schema: Schema,
  text: string,
): Promise<{ readonly structured: Json } | { readonly problem: string }> {
  // Loads zod, which most turns do not need.
  const { outputProblem } = await import('../../shared/turn-verdict.ts');
  const found = [text, ...fenced(text), outermost(text, '{', '}'), outermost(text, '[', ']')].map(parseJson);
  const answers = found.filter((value): value is Json => value !== undefined);
  const right = answers.find((answer) => outputProblem(schema, answer) === undefined);
  if (right !== undefined) return { structured: right };
  const [first] = answers.filter((answer) => isJsonObject(answer) || Array.isArray(answer));
  return { problem: outputProblem(schema, first) ?? '' };
}

/** The last fenced block first. */
function fenced(text: string): string[] {
  return [...text.matchAll(/^```(?:json)?\s*\n([^]*?)\n```/gm)].map(([, block = '']) => block).reverse();
}

function outermost(text: string, open: string, close: string): string {
  return text.slice(text.indexOf(open), text.lastIndexOf(close) + 1);
}
