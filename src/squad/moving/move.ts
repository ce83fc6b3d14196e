import { randomUUID } from 'node:crypto';
import { isSquadError, SquadError, usageError, wrongEnvironment } from '../../model/errors.ts';
import type { MovePlace } from '../../model/moved-mark.ts';
import { noRunYet, unknownRun } from '../../model/unknown-name.ts';
import { decideMove } from '../../rules/moving/decide-move.ts';
import { failpoint } from '../../substrate/system/failpoint.ts';
import { plainLine } from '../../text/plain-text.ts';
import type { Agreed, Begun, Looked, PackedRuns } from './move-messages.ts';
import type { MovingSide } from './move-side.ts';

export interface MoveOptions {
  /** The run that continues there. Absent: the one whose engine was ended here, or the one that needs it most. */
  readonly run: string | undefined;
  /** Ends the turns that are running, and does not wait for them. */
  readonly now: boolean;
  /** Shows what the runs do on the other machine, and asks the person. */
  agree(items: Looked['items'], looked: { readonly source: Looked; readonly target: Looked }): Promise<boolean>;
  /** Gets each step, for people. */
  say(line: string): void;
}

export interface Moved {
  readonly move: string;
  readonly from: string;
  readonly to: string;
  readonly runs: readonly string[];
  readonly lost: PackedRuns['lost'];
  readonly begun: Begun;
}

interface Both {
  readonly source: MovingSide;
  readonly target: MovingSide;
}

/**
 * Moves all runs of a repository to another place, and continues one of them there. After a crash at any point the same call finishes, or
 * goes back and begins anew: at each point at most one side lets an engine start, and each point has a next step.
 */
export async function moveRuns(both: Both, options: MoveOptions): Promise<Moved> {
  const { source, target } = both;
  let from = await source.look();
  if (!from.hasRuns && from.mark === undefined) throw noRunYet();
  const to = await target.look([]);
  let step = decideMove(from, to);
  if (step.do === 'go-back' && from.mark !== undefined) {
    options.say('An earlier move was cut short: the runs are still at their first place.');
    await source.goBack(from.mark.move);
    from = await source.look();
    step = decideMove(from, to);
  }
  if (step.do === 'refuse') throw step.error;
  if (step.do === 'go-back') throw usageError('another command moves these runs', 'Wait for it to end.');
  if (step.do === 'move') return moveAnew(both, from, options);
  const { move } = step;
  options.say('The runs were let go before: finishing.');
  const agreed = step.do === 'take' ? await askFor(both, from, options) : [];
  if (step.do === 'take') await takeFrom(both, move, placeOf(source, from), agreed);
  return begin(both, { move, from, to, lost: [], run: requireRun(from, options.run) });
}

async function moveAnew(both: Both, from: Looked, options: MoveOptions): Promise<Moved> {
  const { source, target } = both;
  const run = requireRun(from, options.run);
  const to = await target.look(from.runs);
  const agreed = await consentOf(from, to, options);
  const move = randomUUID();
  const packed = await source.pack(move, placeOf(target, to), options.now);
  try {
    refuseChanged(agreed, packed.runs);
    options.say(`Copying ${packed.bytes} bytes to ${plainLine(to.shown, 300)}.`);
    const id = await takeFrom(both, move, placeOf(source, from), agreed);
    failpoint('move.taken');
    await source.commit(move, { ...placeOf(target, to), id });
  } catch (error) {
    throw await goneBack(both, move, error);
  }
  return begin(both, { move, from, to, lost: packed.lost, run: run ?? packed.driven });
}

async function takeFrom(both: Both, move: string, from: MovePlace, agreed: readonly Agreed[]): Promise<string> {
  const pack = await both.source.fetch(move);
  return both.target.take(move, from, pack, agreed);
}

/** After a failure the runs stay, unless they were let go: then only the same command again knows what the other side has. */
async function goneBack({ source, target }: Both, move: string, error: unknown): Promise<unknown> {
  try {
    await source.goBack(move);
    if ((await source.look()).mark?.type === 'moved') return error;
  } catch {
    // Not reached. The mark there says what the same command does next.
    return error;
  }
  // It cannot begin them without being asked, and the next move replaces them.
  await target.discard(move).catch(() => undefined);
  return error;
}

async function askFor({ target }: Both, from: Looked, options: MoveOptions): Promise<Agreed[]> {
  return consentOf(from, await target.look(from.runs), options);
}

/** Before anything is ended or marked. */
async function consentOf(source: Looked, target: Looked, options: MoveOptions): Promise<Agreed[]> {
  const [problem, ...more] = target.problems;
  if (problem !== undefined)
    throw wrongEnvironment(
      `${plainLine(target.shown, 300)} cannot take the runs: ${[problem, ...more].map((one) => plainLine(one, 500)).join('; ')}`,
      'Put that right there, then run the command again. Nothing was changed.',
    );
  const agrees = await options.agree(target.items, { source, target });
  if (!agrees)
    throw new SquadError({
      code: 'not-trusted',
      message: `you did not consent to what these runs do at ${plainLine(target.shown, 300)}`,
      next: 'The runs stay here. Nothing was changed.',
    });
  return source.runs.filter(({ unfinished }) => unfinished).map(({ id, hash }) => ({ run: id, hash }));
}

/** Throws where something else would come than was agreed to. */
function refuseChanged(agreed: readonly Agreed[], packed: readonly Agreed[]): void {
  const now = new Map(packed.map(({ run, hash }) => [run, hash]));
  if (agreed.every(({ run, hash }) => now.get(run) === hash)) return;
  throw usageError('a run was changed while it was to move', 'Run the command again, and read what it does now.');
}

function placeOf({ url }: MovingSide, { id, shown }: Looked): MovePlace {
  return { shown, ...(id === undefined ? {} : { id }), ...(url === undefined ? {} : { url }) };
}

/** The id of a run that was named. */
function requireRun({ runs }: Looked, named: string | undefined): string | undefined {
  if (named === undefined) return undefined;
  const found = runs.find(({ id, name }) => id === named || name === named);
  if (found !== undefined) return found.id;
  throw unknownRun(
    named,
    runs.map(({ name }) => name),
  );
}

interface Begins {
  readonly move: string;
  readonly from: Looked;
  readonly to: Looked;
  readonly lost: PackedRuns['lost'];
  readonly run: string | undefined;
}

/** The runs were let go: from here on only forward. */
async function begin({ source, target }: Both, { move, from, to, lost, run }: Begins): Promise<Moved> {
  let begun: Begun;
  try {
    begun = await target.begin(move, run);
  } catch (error) {
    if (!isSquadError(error)) throw error;
    throw new SquadError({
      code: error.code,
      message: `the runs are at ${plainLine(to.shown, 300)}, and could not be continued there yet: ${error.message}`,
      next: 'Run the same command again: it finishes.',
      cause: error,
    });
  }
  // Only room on a disk: the next move makes it free, too.
  await source.done(move).catch(() => undefined);
  return { move, from: from.shown, to: to.shown, runs: from.runs.map(({ name }) => name), lost, begun };
}
