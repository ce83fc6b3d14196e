import type { Json } from '../../../src/text/json.ts';

/** A version of a file. */
export interface FileSeen {
  readonly path: string;
  /** Stands in no other version of it. */
  readonly text: string;
}

/** What is wrong with a turn that uses no tool for long. */
export const SLOW = 'it got nowhere';

/** A turn as its agent knows it. */
export interface TurnSeen {
  readonly id: string;
  /** When it began (epoch ms). */
  readonly at: number;
  /** How long it takes, if it is waited for. */
  readonly ms: number;
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
  readonly wrote: FileSeen | undefined;
  /** It deleted another task's file, which a plan or a list may forbid. */
  readonly removed: boolean;
  /** A file that its task had no business with. */
  readonly stray: FileSeen | undefined;
  /** What it says is missing, while it says that all is well. */
  readonly open: readonly string[];
  /** It came to its own end, and says that it is done. */
  readonly isDone: boolean;
  /** Why this turn may keep the run from its end as done; undefined: it does what it is asked. */
  readonly trouble: string | undefined;
  /** What is wrong with what it did, whatever it answers; undefined: nothing. */
  readonly wrong: string | undefined;
}

/** A command that was run, with what it was run on. */
export interface CheckSeen {
  readonly id: string;
  readonly at: number;
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
  readonly at: number;
}

/** A message that adds work, sent and not refused. `turn`: it takes effect with it; undefined: a person's. */
interface Order {
  readonly turn: string | undefined;
  /** Of that turn, or the person's. */
  readonly task: string;
  readonly id: string;
}

/** A question that a turn asked, or its word that its task cannot be done. */
interface Letter {
  readonly turn: string;
  readonly id: string;
}

/** What the agents, people and strangers of one world know that they did. The engine has no part in it. */
export interface WorldRecord {
  readonly turns: TurnSeen[];
  readonly checks: CheckSeen[];
  readonly words: Word[];
  readonly orders: Order[];
  readonly questions: Letter[];
  readonly givenUp: (Letter & { readonly task: string })[];
  readonly answers: { readonly question: string; readonly answer: string }[];
  /** Where strangers put the run branch; undefined: nowhere. */
  readonly moved: (string | undefined)[];
  /** Commits that strangers made. */
  readonly strangers: Set<string>;
}

export function newRecord(): WorldRecord {
  return {
    turns: [],
    checks: [],
    words: [],
    orders: [],
    questions: [],
    givenUp: [],
    answers: [],
    moved: [],
    strangers: new Set(),
  };
}
