import { errorText } from '../../model/errors.ts';
import type { TurnRequest } from '../../model/turn-request.ts';
import { isJsonObject, parseJson, type Json } from '../../text/json.ts';

type Schema = Readonly<Record<string, Json>>;
type Checked = { readonly structured: Json } | { readonly problem: string };

const MOST_BYTES = 128 * 1024;

/** For an agent whose answer is not in the form. */
export async function repairOf(problem: string, prompts: TurnRequest['prompts']): Promise<string> {
  // Loads all prompts, which most turns do not need.
  const { renderPrompt } = await import('../../prompts/render.ts');
  return renderPrompt('runtime/repair', { problem }, prompts);
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
