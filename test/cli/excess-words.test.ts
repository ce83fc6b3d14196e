import { Command } from 'commander';
import { expect, it } from 'vitest';
import { addCommands, type Commands } from '../../src/cli/command-row.ts';
import type { CommandContext } from '../../src/cli/command-context.ts';
import { VERBS } from '../../src/model/plan/verbs.ts';

const load = async () => () => undefined;
const COMMANDS: Commands = {
  run: { about: '', words: [['[objective]', 'what to do']], flags: [], load },
  tell: { about: '', words: VERBS.tell.words ?? [], flags: [], load },
  status: { about: '', words: [['[run]', 'a run']], flags: [], load },
  runs: { about: '', flags: [], load },
  drop: { about: '', words: [['<runs...>', 'runs']], flags: [], load },
};

async function answerTo(words: readonly string[]): Promise<unknown> {
  const program = new Command('squad').exitOverride();
  addCommands(program, COMMANDS, {} as CommandContext);
  return program.parseAsync(words, { from: 'user' }).then(
    () => 'taken',
    (error: unknown) => error,
  );
}

it.each([
  [['run', 'fix', 'typo'], '`squad run` takes one argument, not 2', "Quote it: `squad run 'fix typo'`."],
  [
    ['run', "it's", 'bad'],
    '`squad run` takes one argument, not 2',
    String.raw`Quote it: ${'`'}squad run 'it'\''s bad'${'`'}.`,
  ],
  [['tell', 'b', 'use', 'tabs'], '`squad tell` takes 2 arguments, not 3', "Quote it: `squad tell b 'use tabs'`."],
  [['status', 'a', 'b'], '`squad status` takes one argument, not 2', 'Read `squad status --help`.'],
  [['runs', 'a'], '`squad runs` takes no argument, not 1', 'Read `squad runs --help`.'],
])('%j is refused with what to type', async (words, message, next) => {
  expect(await answerTo(words)).toMatchObject({ code: 'usage', exitCode: 2, message, next });
});

it.each([[['run', 'fix typo']], [['runs']], [['drop', 'a', 'b', 'c']]])('%j is taken', async (words) => {
  expect(await answerTo(words)).toBe('taken');
});
