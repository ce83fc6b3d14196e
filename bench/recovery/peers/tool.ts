import type { ChaosEntry } from '../../../test/support/chaos-agent.ts';
import type { Room } from './room.ts';
import type { Situation } from './situations.ts';

/** What a prompt asks for, so that one script drives all tools. Each is a regular expression over the prompt; absent: it has no such turn. */
interface Prompts {
  readonly plan?: string;
  readonly build: Readonly<Record<Piece, string>>;
  /** The tool asks an agent to resolve a conflict. */
  readonly conflict: string;
  readonly review?: Readonly<Record<Piece, string>>;
}

export type Piece = 'left' | 'right';
export const PIECES = ['left', 'right'] as const;

export type Command = readonly string[];

export interface Claim {
  /** It says that all of it is done. */
  readonly done: boolean;
  /** In its own words. */
  readonly words: string;
}

/** How one tool is set up, started, told to go on and asked. */
export interface Tool {
  readonly name: string;
  readonly version: string;
  readonly prompts: Prompts;
  /** Entries of the fake agent that only this tool needs, and what a review has to look like for it. */
  readonly own: (situation: Situation) => readonly ChaosEntry[];
  readonly verdict: (piece: Piece, approved: boolean) => Pick<ChaosEntry, 'text' | 'structured'>;
  readonly plan?: ChaosEntry['structured'];
  /** The tool commits by itself. */
  readonly commitsItself: boolean;
  readonly prepare: (room: Room, situation: Situation) => void;
  readonly run: Command;
  /** What a person does once the cause is gone; `words` for the table. */
  readonly goOn: (
    room: Room,
    situation: Situation,
  ) => { readonly words: string; readonly commands: readonly Command[] };
  /** What brings finished work onto the person's branch. */
  readonly deliver: (room: Room) => readonly Command[];
  /** What a person does where that did not bring all of it. */
  readonly mend?: (room: Room) => { readonly words: string; readonly commands: readonly Command[] };
  /** In which of its commands, and in which merge of that one, it is killed. */
  readonly kill: { readonly in: 'run' | 'deliver'; readonly merge: number };
  /** Branches that it names as the result. */
  readonly branches: (room: Room) => readonly string[];
  readonly claim: (room: Room, output: string, code: number | null) => Promise<Claim>;
  /** What it does not have, by situation. */
  readonly lacks: Readonly<Partial<Record<Situation['name'], string>>>;
}
