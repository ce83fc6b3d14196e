import { createReadStream, existsSync, readdirSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { isatty } from 'node:tty';
import { badInput } from '../model/errors.ts';
import { readIssueText } from '../preflight/issue.ts';
import { MOST_BYTES, textOf, type WrittenObjective } from '../preflight/read-input.ts';
import { readSettings } from '../preflight/read-settings.ts';
import { openWorkspace } from '../squad/open-run.ts';
import { plainLine } from '../text/plain-text.ts';
import type { CommandContext } from './command-context.ts';
import { decideArgument, type ObjectiveArgument } from './objective-argument.ts';

const STDIN = 'standard input';
/** Where nothing else says which remote the work goes to. */
const REMOTE = 'origin';

/** The objective that the argument of `squad run` or `squad team` stands for. Throws one error for what it cannot be. */
export async function readArgument(context: CommandContext, given: string): Promise<WrittenObjective> {
  const path = resolve(context.host.workingDirectory, given);
  const argument = decideArgument(given, { isThere: existsSync(path), files: textFilesBeside(path) });
  switch (argument.type) {
    case 'file':
      if (argument.meant === undefined) return given;
      throw badInput(
        `there is no file ${plainLine(given)}; did you mean ${plainLine(argument.meant)}?`,
        'Name the file, or say in a sentence what you want: `squad run "add a login form"`.',
      );
    case 'text':
      return { text: given };
    case 'stdin':
      return { text: await readStdin(context), from: STDIN };
    case 'issue':
      return readIssue(context, argument);
  }
}

function textFilesBeside(path: string): readonly string[] {
  try {
    return readdirSync(dirname(path)).filter((name) => /\.(?:md|markdown|txt)$/i.test(name));
  } catch {
    // No such folder, or the text is too long for a path: there is nothing to suggest.
    return [];
  }
}

/** A terminal is opened anew: `process.stdin` could ask no question after its end, and what Node opened does not wait for input. */
async function readStdin({ output }: CommandContext): Promise<string> {
  const isTerminal = isatty(0);
  if (isTerminal) output.problem('Write the objective, then press Ctrl-D on a line of its own.');
  const stream = isTerminal ? createReadStream('/dev/stdin') : process.stdin;
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of stream) {
    const bytes = Buffer.from(part as Uint8Array);
    size += bytes.length;
    if (size > MOST_BYTES) {
      throw badInput(`${STDIN} is larger than 1 MiB`, 'Put the details into files of the repository and name them.');
    }
    parts.push(bytes);
  }
  return textOf(Buffer.concat(parts), STDIN);
}

async function readIssue(
  context: CommandContext,
  { type: _type, ...name }: Extract<ObjectiveArgument, { type: 'issue' }>,
): Promise<WrittenObjective> {
  const { repository, composition } = await openWorkspace(context);
  const { settings } = await readSettings(repository.root, composition, context.host);
  const remote = settings.publish?.remote ?? REMOTE;
  return readIssueText(composition.forge(repository), { ...name, remote });
}
