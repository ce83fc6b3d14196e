import { z } from 'zod';
import { SquadError, wrongEnvironment } from './errors.ts';
import { plainLine } from '../text/plain-text.ts';
import { shellWord } from '../text/shell-word.ts';

/** A repository on a machine, as a person finds it. */
const movePlaceSchema = z.object({
  /** The id under which that machine keeps the state of the repository. Absent: not known yet. */
  id: z.string().max(100).optional(),
  /** `host:/path` */
  shown: z.string().max(5000),
  /** Absent: that machine called this one, which does not know how to reach it. */
  url: z.string().max(5000).optional(),
});
export type MovePlace = z.infer<typeof movePlaceSchema>;

const about = { version: z.literal(1), move: z.uuid(), at: z.int() };
const movedSchema = z.object({ ...about, type: z.literal('moved'), other: movePlaceSchema });

/**
 * Left by a move in the folder of the ledger. `moving`: they may still come to stay. `moved`: they are at the other
 * place. `arriving`: they are copied, and the other place has not let them go yet. `here`: they came from there, and are at home now.
 */
export const movedMarkSchema = z.discriminatedUnion('type', [
  movedSchema,
  z.object({ ...about, type: z.literal('moving'), other: movePlaceSchema }),
  z.object({ ...about, type: z.literal('arriving'), other: movePlaceSchema, before: movedSchema.optional() }),
  z.object({ ...about, type: z.literal('here'), other: movePlaceSchema }),
]);
export type MovedMark = z.infer<typeof movedMarkSchema>;

/** Where the runs are, in one sentence; undefined: here. */
export function whereMoved({ type, other, at }: MovedMark): string | undefined {
  const place = plainLine(other.url ?? other.shown, 500);
  if (type === 'moved') return `the runs of this repository are at ${place} since ${new Date(at).toISOString()}`;
  if (type === 'moving') return `the runs of this repository are being moved to ${place}`;
  return type === 'arriving' ? `the runs of this repository are being moved here from ${place}` : undefined;
}

/** The next step of a person who wants to work with the runs. */
function stepAfterMove({ type, other }: MovedMark): string {
  const { url } = other;
  if (type === 'moved')
    return url === undefined
      ? `Bring them back from there: \`squad move ssh://…\` in ${plainLine(other.shown, 500)}, with the address of this repository.`
      : 'Work with them there, or bring them back with `squad move --back`.';
  if (type === 'moving')
    return url === undefined
      ? `Run the same \`squad move --back\` again on the machine of ${plainLine(other.shown, 500)}: it finishes, or goes back.`
      : `Run \`squad move ${shellWord(url)}\` again: it finishes, or goes back.`;
  return url === undefined
    ? `Run the same \`squad move\` again in ${plainLine(other.shown, 500)}: it finishes, or goes back.`
    : 'Run `squad move --back` again: it finishes, or goes back.';
}

/** undefined: the runs are here. */
export function movedError(mark: MovedMark): SquadError | undefined {
  const where = whereMoved(mark);
  return where === undefined ? undefined : wrongEnvironment(where, stepAfterMove(mark));
}
