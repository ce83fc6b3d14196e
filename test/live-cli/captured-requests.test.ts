import { afterEach, describe, expect, it } from 'vitest';
import { conversationsOf, expectCaptured, promptOf, RUN, saidIn } from './captured.ts';
import { CLAUDE_BINARY } from './claude-harness.ts';
import { CODEX_BINARY } from './codex-harness.ts';
import { openSquadOn, turnsTaken, type Cli, type Taken, type WholeRunRoom } from './whole-run-room.ts';
import { CHECK, OBJECTIVE, turnsOf } from './whole-run-script.ts';

const BINARIES = { claude: CLAUDE_BINARY, codex: CODEX_BINARY };
const TOOLS = ['ask', 'handoff', 'mail', 'send'];
const MOST_OF_TOOLS = 3_000;
/** Bytes of a prompt in a conversation that continues, without what it quotes. */
const MOST_OF_NEWS = { builder: 500, reviewer: 500 };

const bytesOf = (text: string): number => Buffer.byteLength(text);

/** The words of squad itself: nothing between tags, in a list or in code. */
const ownWords = (prompt: string): string =>
  prompt.replaceAll(/<([a-z]+)>\n[^]*?\n<\/\1>|^- .*$|`[^`]*`|\b[0-9a-f]{40}\b/gm, '');

const roleOf = ({ attempt }: Taken): string => attempt.agent.replace(/-\d$/, '');

let room: WholeRunRoom | undefined;
afterEach(() => room?.close());

async function openRoom(cli: Cli): Promise<WholeRunRoom> {
  const files = { 'objective.md': OBJECTIVE, 'check.mjs': CHECK };
  const opened = await openSquadOn(cli, { files, turns: turnsOf, verify: 'node check.mjs' });
  void opened.gate.reached.then(() => opened.gate.open());
  return opened;
}

describe.each<Cli>(['claude', 'codex'])('the requests of a run with a rejection on the real %s', (cli) => {
  it.skipIf(BINARIES[cli] === undefined)(
    'repeat the run byte by byte, add only what is new, offer few tools',
    async () => {
      room = await openRoom(cli);
      const end = await room.engine.run(['run', 'objective.md', '--json', '--yes'], room.environment);
      expect(room.model.strange).toEqual([]);
      expect(end.lines.at(-1), end.stderr).toMatchObject({ outcome: 'done' });
      const taken = turnsTaken(room.engine);
      const turns = taken.map((turn) => ({
        role: roleOf(turn),
        session: turn.result?.session?.id ?? '',
        prompt: promptOf(turn),
      }));
      const conversations = conversationsOf(room, cli);
      expect([...conversations.keys()].toSorted()).toEqual(
        [...new Set(turns.map(({ session }) => session))].toSorted(),
      );

      const first = turns.filter(({ session }, index) => turns.findIndex((one) => one.session === session) === index);
      expect(first.map(({ role }) => role).toSorted()).toEqual([
        'builder',
        'builder',
        'planner',
        'reviewer',
        'reviewer',
      ]);
      const runs = first.map(({ prompt }) => RUN.exec(prompt)?.[0]);
      expect(new Set(runs).size).toBe(1);
      expect(runs[0]).toContain(OBJECTIVE.trim());

      for (const [session, requests] of conversations) {
        for (const [index, { items }] of requests.entries()) {
          const before = requests[index - 1]?.items ?? [];
          expect(items.slice(0, before.length)).toEqual(before);
        }
        const items = requests.at(-1)?.items ?? [];
        const prompts = turns.filter((one) => one.session === session).map(({ prompt }) => prompt);
        expect(saidIn(items)).toContain(prompts[0]);
        // Once the model has answered, it reads nothing but its tools and the next prompts: no word of the CLI, or of an earlier one.
        const answered = items.findIndex(({ role, type }) => role === 'assistant' || type === 'function_call');
        expect(answered === -1 ? [] : saidIn(items.slice(answered))).toEqual(prompts.slice(1));
      }

      for (const role of ['planner', 'builder', 'reviewer'])
        await expectCaptured(room, role, (turn) => roleOf(turn) === role && turn.attempt.taskId !== 'product');

      const later = turns.filter((turn) => !first.includes(turn));
      expect(later.map(({ role }) => role).toSorted()).toEqual(['builder', 'reviewer']);
      for (const { role, prompt } of later) {
        expect(bytesOf(ownWords(prompt)), prompt).toBeLessThanOrEqual(MOST_OF_NEWS[role as keyof typeof MOST_OF_NEWS]);
      }

      for (const { tools } of [...conversations.values()].flat()) {
        const names = tools.map(({ name }) => String(name).replace('mcp__squad__', ''));
        // A planner hands nothing on.
        expect([TOOLS, TOOLS.filter((name) => name !== 'handoff')]).toContainEqual(names.toSorted());
        expect(bytesOf(JSON.stringify(tools))).toBeLessThanOrEqual(MOST_OF_TOOLS);
      }
    },
  );
});
