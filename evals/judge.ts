import { z } from 'zod';
import { bugLines, type Change, type Overlap } from './items.ts';

export interface Verdict {
  readonly right: boolean;
  readonly why: string;
  /** Findings that block where nothing is wrong. */
  readonly alarms?: number;
}

/** Readers look at a whole statement: this many lines beside it count as the same place. */
const NEAR = 2;
/** A reviewer that blocks each line hits each bug: with more findings that block, none counts. Each change has more lines. */
export const MOST_BLOCKING = 3;

const reviewSchema = z.looseObject({
  approved: z.boolean(),
  findings: z.array(
    z.looseObject({
      file: z.string().nullable(),
      line: z.number().nullable(),
      proof: z.string(),
      blocks: z.string().nullable(),
    }),
  ),
});

const NO_ANSWER: Verdict = { right: false, why: 'no answer in the form' };

/** By place alone: whether the words of a finding are true is not judged. */
export function judgeReview(change: Change, answer: unknown): Verdict {
  const { data: review } = reviewSchema.safeParse(answer);
  if (review === undefined) return { ...NO_ANSWER, alarms: 0 };
  const blocking = review.approved
    ? []
    : review.findings.filter(({ blocks, proof }) => blocks !== null && proof !== '');
  const [first, last] = bugLines(change) ?? [Infinity, -Infinity];
  const hits = blocking.filter(
    ({ file, line }) => file === change.file && line !== null && line >= first - NEAR && line <= last + NEAR,
  );
  const alarms = blocking.length - hits.length;
  if (change.bug === undefined) {
    return { right: review.approved, why: review.approved ? 'approved' : 'rejected without a bug', alarms };
  }
  if (hits.length === 0)
    return { right: false, why: review.approved ? 'missed' : 'rejected for another place', alarms };
  if (blocking.length > MOST_BLOCKING)
    return { right: false, why: `found among ${blocking.length} findings that block`, alarms };
  return { right: true, why: 'found', alarms };
}

const planSchema = z.looseObject({
  tasks: z.array(z.looseObject({ id: z.string(), needs: z.array(z.string()), files: z.array(z.string()) })),
});
type Planned = z.infer<typeof planSchema>['tasks'][number];

/** The parts meet in `shared`: one task has these files, or those that have them wait for each other. */
export function judgePlan({ shared }: Overlap, answer: unknown): Verdict {
  const { data } = planSchema.safeParse(answer);
  if (data === undefined) return NO_ANSWER;
  const { tasks } = data;
  if (tasks.length === 0) return { right: false, why: 'no task' };
  if (tasks.length === 1) return { right: true, why: 'one task' };
  const ofFile = shared.map((file) => tasks.filter((task) => task.files.some((path) => isAt(path, file))));
  const missing = shared.filter((_, index) => ofFile[index]?.length === 0);
  if (missing.length > 0) return { right: false, why: `no task has ${missing.join(', ')}` };
  const having = [...new Set(ofFile.flat())];
  const apart = having.flatMap((one, index) =>
    having
      .slice(index + 1)
      .flatMap((other) => (waits(one, other, tasks) || waits(other, one, tasks) ? [] : [[one, other]])),
  );
  const [pair] = apart;
  if (pair === undefined)
    return { right: true, why: having.length === 1 ? 'one task has it' : 'one waits for the other' };
  return { right: false, why: `${pair.map((one) => one?.id).join(' and ')} run at the same time` };
}

function isAt(path: string, file: string): boolean {
  const plain = path.replace(/^\.\//, '').replace(/\/+$/, '');
  return plain === '.' || plain === '' || file === plain || file.startsWith(`${plain}/`);
}

/** Over other tasks, too. */
function waits(one: Planned, other: Planned, tasks: readonly Planned[], seen: readonly string[] = []): boolean {
  return one.needs.some((id) => {
    if (id === other.id) return true;
    const next = tasks.find((task) => task.id === id);
    return next !== undefined && !seen.includes(id) && waits(next, other, tasks, [...seen, id]);
  });
}
