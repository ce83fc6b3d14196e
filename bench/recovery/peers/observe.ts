import { lookAt, type Facts } from './facts.ts';
import { openRoom, type Ended, type Room } from './room.ts';
import { scriptFor } from './script.ts';
import type { Situation } from './situations.ts';
import type { Command, Tool } from './tool.ts';

export interface Observation {
  readonly tool: string;
  readonly situation: Situation['name'];
  /** After its command, which nobody watched. */
  readonly first: Facts;
  /** After what a person did, where something was left to do. */
  readonly after?: Facts & { readonly words: string };
  /** After the tool's own command to bring finished work onto the person's branch. */
  readonly delivered?: Facts & { readonly words: string };
  /** After what a person did, where that did not bring all of it. */
  readonly mended?: Facts & { readonly words: string };
}

const MORE_SECONDS = 120;

export async function observe(tool: Tool, situation: Situation): Promise<Observation> {
  const room = openRoom({
    'readme.md': '# A small project\n',
    'shared.txt': 'title: none\n',
    '.gitignore': '.takt/\n.ralphy/\n.ralphy-worktrees/\nsquad.yaml\nobjective.md\ntasks.yaml\n',
  });
  try {
    tool.prepare(room, situation);
    const plan = (trouble: boolean): void => room.agent.plan({ turns: scriptFor(tool, situation, trouble) });
    plan(true);
    const isKilled = situation.name === 'kill-in-merge';
    const ended: Ended =
      isKilled && tool.kill.in === 'run'
        ? await killed(room, tool.run, tool.kill.merge)
        : await room.run(tool.run, situation.seconds);
    const first = await lookAt(room, tool, situation, ended);
    const observation = { tool: tool.name, situation: situation.name, first };
    if (first.claim.done) return { ...observation, ...(await deliver(room, tool, situation, isKilled)) };
    plan(false);
    const { words, commands } = tool.goOn(room, situation);
    const again = await lookAt(room, tool, situation, await runAll(room, commands));
    const after = { ...observation, after: { ...again, words } };
    return again.claim.done ? { ...after, ...(await deliver(room, tool, situation, false)) } : after;
  } finally {
    await room.close();
  }
}

async function deliver(room: Room, tool: Tool, situation: Situation, isKilled: boolean): Promise<Partial<Observation>> {
  const commands = tool.deliver(room);
  if (commands.length === 0) return {};
  const isHere = isKilled && tool.kill.in === 'deliver';
  if (isHere) {
    await runAll(room, commands.slice(0, -1));
    await killed(room, commands.at(-1) ?? [], tool.kill.merge);
  }
  const ended = await runAll(room, isHere ? commands.slice(-1) : commands);
  const facts = await lookAt(room, tool, situation, ended);
  const delivered = { ...facts, words: isHere ? 'its merge again' : 'its merge' };
  const mend = tool.mend?.(room);
  // What was never made cannot be mended.
  if (facts.pieces.onMain === facts.pieces.there || mend === undefined) return { delivered };
  const mended = await lookAt(room, tool, situation, await runAll(room, mend.commands));
  return { delivered, mended: { ...mended, words: mend.words } };
}

/** One after the other; the last one's exit and all their output. */
async function runAll(room: Room, commands: readonly Command[]): Promise<Ended> {
  const all: Ended[] = [];
  for (const command of commands) all.push(await room.run(command, MORE_SECONDS));
  return {
    code: all.at(-1)?.code ?? null,
    seconds: all.reduce((sum, { seconds }) => sum + seconds, 0),
    output: all.map(({ output }) => output).join('\n'),
  };
}

async function killed(room: Room, command: Command, merge: number): Promise<Ended> {
  const ended = await room.killInMerge(command, merge, MORE_SECONDS);
  if (ended === undefined) throw new Error(`no merge to kill it in: ${command.join(' ')}`);
  return ended;
}
