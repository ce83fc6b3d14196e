import { errorText } from '../../model/errors.ts';
import { asObject, isJsonObject, parseJson, type Json } from '../../text/json.ts';

type Schema = Readonly<Record<string, Json>>;
type Checked = { readonly structured: Json } | { readonly problem: string };

const MOST_BYTES = 128 * 1024;

export function withSchema(prompt: string, schema: Schema): string {
  const how = 'End your turn with one JSON value that satisfies this JSON Schema, and with nothing before or after it:';
  return `${prompt}\n\n${how}\n${JSON.stringify(schema)}`;
}

/** Asks for an answer in a form that its turn does not owe. A session that is resumed has the schema already. */
export function withOptionalSchema(prompt: string, schema: Schema, isResumed: boolean): string {
  const fields = Object.keys(asObject(schema['properties'])).join(', ');
  const how = isResumed
    ? `End your turn as before, with one JSON value that has these fields: ${fields}.`
    : `End your turn with one JSON value that satisfies this JSON Schema:\n${JSON.stringify(schema)}`;
  return `${prompt}\n\n${how}`;
}

export function repairOf(problem: string): string {
  return `${problem}. Send the corrected JSON value now, and nothing else. Do not do anything else.`;
}

/** The structured answer in a message, checked; or what is wrong with it. */
export async function structuredAnswer(schema: Schema, text: string): Promise<Checked> {
  // Loads zod, which most turns do not need.
  const { outputProblem } = await import('./turn-verdict.ts');
  const found = [text, ...fenced(text), outermost(text, '{', '}'), outermost(text, '[', ']')].map(parseJson);
  const answers = found.filter((value): value is Json => value !== undefined);
  try {
    const structured = answers.find((answer) => outputProblem(schema, answer) === undefined);
    if (structured === undefined) {
      const first = answers.find((answer) => isJsonObject(answer) || Array.isArray(answer));
      return { problem: outputProblem(schema, first) ?? '' };
    }
    // Whole or not at all, because long lines are cut.
    const isShort = Buffer.byteLength(JSON.stringify(structured)) <= MOST_BYTES;
    return isShort ? { structured } : { problem: `the answer is larger than ${MOST_BYTES} bytes` };
  } catch (error) {
    return { problem: `the answer cannot be checked: ${errorText(error)}` };
  }
}

/** The last fenced block first. */
function fenced(text: string): string[] {
  return [...text.matchAll(/^```(?:json)?[ \t]*\n([^]*?)\n```/gm)].map(([, block = '']) => block).reverse();
}

function outermost(text: string, open: string, close: string): string {
  return text.slice(text.indexOf(open), text.lastIndexOf(close) + 1);
}
