import { usageError } from '../../model/errors.ts';
import { movedError } from '../../model/moved-mark.ts';
import { parseSshAddress, type SshAddress } from '../../model/ssh-address.ts';
import { localSide } from '../../squad/moving/local-side.ts';
import { answerMove } from '../../squad/moving/answer-move.ts';
import { moveRuns, type Moved, type MoveOptions } from '../../squad/moving/move.ts';
import { openSshSide } from '../../squad/moving/ssh-side.ts';
import { openWorkspace } from '../../squad/open-workspace.ts';
import { notTrusted } from '../../squad/preflight/consent.ts';
import { readMark } from '../../substrate/ledger/moved-mark.ts';
import { counted } from '../../text/counted.ts';
import type { Given } from '../../text/flags.ts';
import { plainLine } from '../../text/plain-text.ts';
import { ownProgram, type CommandContext } from '../command-context.ts';
import { trustOf } from '../consent.ts';
import type { MOVE_FLAGS } from '../flags.ts';
import { printResult } from '../output.ts';
import { version } from '../version.ts';

/** Moves the runs of this repository to another machine, or brings them back, and continues one there. */
export async function move(
  context: CommandContext,
  words: readonly string[],
  options: Given<typeof MOVE_FLAGS>,
): Promise<void> {
  const { host, output } = context;
  const { run, address } = await readWords(context, words, options.back === true);
  let waits = false;
  const onWait = (turns: number): void => {
    if (!waits) output.problem(`Waiting for ${counted(turns, 'turn')} to end; \`--now\` ends them.`);
    waits = true;
  };
  const here = localSide({ host }, { squad: ownProgram(host), onWait });
  const there = await openSshSide(host, address, version());
  const both = options.back === true ? { source: there, target: here } : { source: here, target: there };
  const moved = await moveRuns(both, {
    run,
    now: options.now === true,
    agree: agreeAt(context, options),
    say: (line) => output.problem(line),
  });
  printResult(output, options, { type: 'runs-moved', ...moved }, lines(moved, options.back === true));
  if (moved.begun.problem !== undefined) context.exit(1);
}

/** Answers `squad move` of another machine, which has started this over ssh. */
export async function receive({ host }: CommandContext): Promise<void> {
  const { stdin: input, stdout } = process;
  await answerMove({ host }, { squad: ownProgram({ node: host.node }), version: version(), input, output: stdout });
}

async function readWords(
  { host }: CommandContext,
  words: readonly string[],
  back: boolean,
): Promise<{ readonly run: string | undefined; readonly address: SshAddress }> {
  const addresses = words.filter((word) => word.includes('://'));
  const [run, ...more] = words.filter((word) => !word.includes('://'));
  if (more.length > 0 || addresses.length > 1)
    throw usageError(
      'name one run and one address at most',
      'For example: `squad move ssh://me@server/home/me/project`.',
    );
  const [named] = addresses;
  if (!back && named !== undefined) return { run, address: parseSshAddress(named) };
  if (back && named === undefined) return { run, address: parseSshAddress(await whereFrom({ host })) };
  throw usageError(
    back ? '`--back` takes no address: squad knows where the runs are' : 'it is missing where the runs are to go',
    back ? 'Run `squad move --back`.' : 'For example: `squad move ssh://me@server/home/me/project`.',
  );
}

async function whereFrom({ host }: Pick<CommandContext, 'host'>): Promise<string> {
  const { directory, state } = await openWorkspace({ host });
  const mark = state.type === 'known' ? readMark(directory) : undefined;
  if (mark?.other.url !== undefined && mark.type !== 'moving') return mark.other.url;
  throw (mark && movedError(mark)) ?? usageError('the runs of this repository are here', 'See them with `squad runs`.');
}

function agreeAt(context: CommandContext, options: Given<typeof MOVE_FLAGS>): MoveOptions['agree'] {
  return async (given, { source, target }) => {
    const names = source.runs.map(({ name }) => name);
    if (names.length > 1)
      context.output.problem(`All ${names.length} runs of this repository move together: ${names.join(', ')}.`);
    if (given.length === 0) return true;
    const where = plainLine(target.shown, 300);
    const items = given.map(({ from, detail, ...item }) => {
      return { ...item, from: from as 'verify', ...(detail === undefined ? {} : { detail }) };
    });
    const trust = trustOf(context, options, `The runs want to do this at ${where}:`);
    if (trust === 'yes') return true;
    if (trust === undefined)
      throw notTrusted(
        items,
        `It is done at ${where}. Read it, then run the command again with \`--yes\`, or at a terminal.`,
      );
    return trust(items);
  };
}

function lines({ runs, to, lost, begun }: Moved, back: boolean): string[] {
  const { run, began, problem } = begun;
  return [
    `${counted(runs.length, 'run')} moved to ${plainLine(to, 300)}: ${runs.join(', ')}`,
    ...lost.map(
      (one) => `lost  the work of ${one.attempt} in ${one.run}: its folder was gone, so the turn is done again`,
    ),
    ...(run === undefined ? [] : began ? [`${run} continues there in the background.`] : []),
    ...(problem === undefined ? [] : [`${run ?? 'the run'} does not continue yet: ${plainLine(problem, 2000)}`]),
    ...(back ? [] : ['Bring them back with `squad move --back`.']),
  ];
}
