import { redactorOf } from '../../model/redaction/redactor.ts';
import { asObject, parseJson } from '../../text/json.ts';
import { plainJsonText, plainText } from '../../text/plain-text.ts';
import type { CommandContext } from '../command-context.ts';
import type { Output } from '../output.ts';
import { PLAIN } from '../render/style.ts';

/** All that a command printed, without secrets. */
export interface Captured {
  /** With `--json`. */
  readonly objects: readonly Readonly<Record<string, unknown>>[];
  /** For people. */
  readonly lines: readonly string[];
}

/** Runs a command as its own process would, where no person can be asked. Throws what the command throws. */
export async function captured(
  context: CommandContext,
  command: (context: CommandContext) => Promise<void> | void,
): Promise<Captured> {
  const redactor = redactorOf(context.host.environment, []);
  const objects: Readonly<Record<string, unknown>>[] = [];
  const lines: string[] = [];
  const output: Output = {
    line: (text) => void lines.push(plainText(redactor.text(text))),
    json: (value) => void objects.push(asObject(parseJson(plainJsonText(redactor.json(value))))),
    // Nothing that a program can use; errors are thrown.
    problem: () => undefined,
    isLost: () => false,
    style: PLAIN,
    columns: () => undefined,
    terminal: undefined,
  };
  await command({ ...context, output, exit: () => undefined });
  return { objects, lines };
}
