import type { ChaosTurn } from '../../../test/support/chaos-agent.ts';
import { git } from '../../../test/support/git.ts';
import type { Ended, Room } from './room.ts';
import type { Situation } from './situations.ts';
import { PIECES, type Claim, type Tool } from './tool.ts';

/** What is there after a command, whatever the tool says of it. */
export interface Facts {
  readonly exit: number | null;
  readonly seconds: number;
  readonly claim: Claim;
  /** Pieces of the work on the branches that the tool names, and on the person's own. */
  readonly pieces: { readonly there: number; readonly onMain: number };
  readonly turns: Turns;
  /** Processes that were left alive. */
  readonly left: number;
  /** The end of what it printed. */
  readonly tail: string;
}

export interface Turns {
  readonly begun: number;
  readonly refused: number;
  readonly judges: number;
  /** Turns that began again what a turn had answered before. */
  readonly twice: number;
  readonly reviews: number;
  readonly usd: number;
}

export async function lookAt(room: Room, tool: Tool, situation: Situation, ended: Ended): Promise<Facts> {
  // A process that ends with its tool needs a moment.
  await new Promise((resolve) => setTimeout(resolve, 300));
  const left = room.alive().length;
  const claim = await tool.claim(room, ended.output, ended.code);
  return {
    ...{ exit: ended.code, seconds: ended.seconds, claim, left },
    tail: ended.output.trimEnd().split('\n').slice(-20).join('\n'),
    pieces: {
      there: piecesOn(room.repository, tool.branches(room), situation),
      onMain: piecesOn(room.repository, ['main'], situation),
    },
    turns: countTurns(room.agent.turns(), new Set(room.agent.answered()), situation.usd),
  };
}

export function countTurns(turns: readonly ChaosTurn[], answered: ReadonlySet<number>, usd: number): Turns {
  const done = new Set<string>();
  let twice = 0;
  for (const { label, pid } of turns) {
    if (label === undefined || label === 'judge') continue;
    if (done.has(label)) twice += 1;
    if (answered.has(pid)) done.add(label);
  }
  const labelled = (name: string): number => turns.filter(({ label }) => label === name).length;
  return {
    begun: turns.length,
    refused: labelled('refused'),
    judges: labelled('judge'),
    twice,
    reviews: turns.filter(({ label }) => label?.startsWith('review') === true).length,
    // A judge’s turn is short: it counts as free.
    usd: Math.round(turns.filter(({ label, pid }) => label !== 'judge' && answered.has(pid)).length * usd * 100) / 100,
  };
}

/** On any of these branches, with the text that they have to have. */
export function piecesOn(repository: string, branches: readonly string[], { name }: Situation): number {
  const texts = (path: string): string[] => branches.flatMap((branch) => textOn(repository, branch, path) ?? []);
  if (name !== 'same-lines') return PIECES.filter((piece) => texts(`${piece}.txt`).includes(`${piece}\n`)).length;
  const whole = texts('shared.txt').filter((text) => !text.includes('<<<<'));
  return PIECES.filter((piece) => whole.some((text) => text.includes(piece))).length;
}

function textOn(repository: string, branch: string, path: string): string | undefined {
  try {
    return `${git(repository, 'show', `${branch}:${path}`)}\n`;
  } catch {
    // It is not there.
    return undefined;
  }
}
