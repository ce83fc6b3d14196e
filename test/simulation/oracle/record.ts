import type { Json } from '../../../src/text/json.ts';

/** A turn as its agent knows it. */
export interface TurnSeen {
  readonly id: string;
  readonly task: string;
  readonly agent: string;
  readonly form: string;
  /** It was told that its folder is its own. */
  readonly owns: boolean;
  /** The commit that its folder stood on as it began; undefined: it has none. */
  readonly commit: string | undefined;
  readonly answer: Json | undefined;
  /** All that it was told. */
  readonly prompt: string;
  /** A text that stands in no other version of that file. */
  readonly wrote: { readonly path: string; readonly text: string } | undefined;
  /** It came to its own end, and says that it is done. */
  readonly isDone: boolean;
  /** Why this turn may keep the run from its end as done; undefined: it does what it is asked. */
  readonly trouble: string | undefined;
}

/** A command that was run, with what it was run on. */
interface CheckSeen {
  readonly id: string;
  readonly command: string;
  readonly commit: string | undefined;
  readonly passed: boolean;
}

/** A person's word on a task. */
interface Word {
  readonly verb: 'skip' | 'retry' | 'override';
  readonly as: 'done' | 'failed' | undefined;
  readonly task: string;
  readonly by: string;
}

/** A message that adds work, sent and not refused. `turn`: it takes effect with it; undefined: a person's. */
interface Order {
  readonly turn: string | undefined;
  /** Of that turn, or the person's. */
  readonly task: string;
  readonly id: string;
}

/** What the agents, people and strangers of one world know that they did. The engine has no part in it. */
export interface WorldRecord {
  readonly turns: TurnSeen[];
  readonly checks: CheckSeen[];
  readonly words: Word[];
  readonly orders: Order[];
  readonly answers: { readonly question: string; readonly answer: string }[];
  /** Where strangers put the run branch; undefined: nowhere. */
  readonly moved: (string | undefined)[];
  /** Commits that strangers made. */
  readonly strangers: Set<string>;
}

export function newRecord(): WorldRecord {
  return { turns: [], checks: [], words: [], orders: [], answers: [], moved: [], strangers: new Set() };
}
