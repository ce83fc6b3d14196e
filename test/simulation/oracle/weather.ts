import { draw, drawInt, drawOf } from '../world/draw.ts';

const PLAYBOOKS = [
  'delivery',
  'delivery',
  'council',
  'council',
  'objective',
  'objective',
  'stages',
  'session',
] as const;
export type PlaybookName = (typeof PLAYBOOKS)[number];

/** How things go in one world; numbers are shares of all turns. */
export interface Weather {
  readonly playbook: PlaybookName;
  readonly pieces: number;
  readonly failures: number;
  readonly rejections: number;
  /** Says that it is done, and did nothing. */
  readonly lies: number;
  /** Writes a document that is empty, an old one, or another one than it says. */
  readonly falseDocuments: number;
  /** Says that something is missing, where it also says that all is well. */
  readonly open: number;
  /** Says that the documentation has the answer, and wrote nothing; or wrote it, and says that it did not. */
  readonly falseClaims: number;
  /** Gives its own task up. */
  readonly givesUp: number;
  readonly walls: number;
  readonly mail: number;
  /** Commands that say something else each time. */
  readonly flaky: boolean;
  /** Commands that nothing can run. */
  readonly missing: boolean;
  /** Times that people say something about a task, or add work. */
  readonly words: number;
  /** Times that a stranger moves the run branch. */
  readonly moves: number;
  /** Moves at the worst moments: while the result is judged or checked. */
  readonly ambush: number;
  /** Nothing is wrong but that branches move and engines die: the run has to end as done. */
  readonly calm: boolean;
}

export function weatherOf(seed: number): Weather {
  const calm = draw(seed, 'calm') < 0.3;
  const some = (choices: readonly [number, ...number[]], name: string): number =>
    calm ? 0 : drawOf(choices, seed, name);
  return {
    calm,
    playbook: drawOf(PLAYBOOKS, seed, 'playbook'),
    pieces: drawInt(1, 3, seed, 'pieces'),
    failures: some([0, 0, 0, 0.05, 0.15], 'failures'),
    rejections: some([0, 0, 0.15, 0.3], 'rejections'),
    lies: some([0, 0, 0.05], 'lies'),
    falseDocuments: some([0, 0, 0.1, 0.25], 'false documents'),
    open: some([0, 0.3, 0.5], 'open'),
    falseClaims: some([0, 0.5], 'false claims'),
    givesUp: some([0, 0, 0, 0.05], 'gives up'),
    walls: some([0, 0, 0, 0.1, 0.25], 'walls'),
    mail: drawOf([0, 0.1, 0.3], seed, 'mail'),
    flaky: some([0, 0, 0, 1], 'flaky') > 0,
    missing: some([0, 0, 0, 0, 1], 'missing') > 0,
    words: some([0, 0, 0, 1, 2, 3], 'words'),
    moves: drawOf([0, 0, 1, 1, 2], seed, 'moves'),
    ambush: drawOf([0, 0, 0, 0.2, 0.5], seed, 'ambush'),
  };
}
