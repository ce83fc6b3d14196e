import { afterEach, describe, expect, it } from 'vitest';
import { CLAUDE_BINARY } from './claude-harness.ts';
import { CODEX_BINARY } from './codex-harness.ts';
import { openSquadOn, turnsTaken, type Cli, type WholeRunRoom } from './whole-run-room.ts';
import { CHECK, OBJECTIVE, turnsOf } from './whole-run-script.ts';

type Fields = Readonly<Record<string, unknown>>;

/** One request to a model, in the words of no CLI. */
interface Captured {
  readonly conversation: string;
  /** Messages, calls and their results. */
  readonly items: readonly Fields[];
  /** Tools of the mailbox. */
  readonly tools: readonly Fields[];
}

const BINARIES = { claude: CLAUDE_BINARY, codex: CODEX_BINARY };
const TOOLS = ['ask', 'handoff', 'mail', 'send'];
const MOST_OF_TOOLS = 3_000;
/** Bytes of a prompt in a conversation that continues, without what it quotes. */
const MOST_OF_NEWS = { builder: 500, reviewer: 500 };

const bytesOf = (text: string): number => Buffer.byteLength(text);

/** The words of squad itself: nothing between tags, in a list or in code. */
const ownWords = (prompt: string): string =>
  prompt.replaceAll(/<([a-z]+)>\n[^]*?\n<\/\1>|^- .*$|`[^`]*`|\b[0-9a-f]{40}\b/gm, '');

function claudesRequests({ anthropic }: WholeRunRoom): Captured[] {
  return anthropic.requests.map(({ raw }) => {
    const body = JSON.parse(raw, (key, value: unknown) => (key === 'cache_control' ? undefined : value)) as {
      messages: { role: string; content: string | Fields[] }[];
      tools?: Fields[];
      metadata: { user_id: string };
    };
    const items = body.messages.flatMap(({ role, content }) =>
      (typeof content === 'string' ? [{ type: 'text', text: content }] : content).map((block) => ({ role, ...block })),
    );
    return {
      conversation: /session_id":"([0-9a-f-]+)/.exec(body.metadata.user_id)?.[1] ?? '',
      items,
      tools: (body.tools ?? []).filter(({ name }) => String(name).startsWith('mcp__squad__')),
    };
  });
}

function codexsRequests({ openai }: WholeRunRoom): Captured[] {
  return openai.requests.map(({ body }) => {
    const { prompt_cache_key, input, tools } = body as unknown as {
      prompt_cache_key: string;
      input: (Fields & { content?: { text: string }[] })[];
      tools: (Fields & { tools?: Fields[] })[];
    };
    return {
      conversation: prompt_cache_key,
      items: input.map((item) => ({ ...item, text: item.content?.map(({ text }) => text).join('') })),
      tools: tools.find(({ name }) => name === 'mcp__squad')?.tools ?? [],
    };
  });
}

/** Neither the model's own words nor a result of its tools. */
const isSaid = ({ role, text }: Fields): boolean => role !== 'assistant' && typeof text === 'string';

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
      const turns = turnsTaken(room.engine).map(({ attempt, result }) => ({
        role: attempt.agent.replace(/-\d$/, ''),
        session: result?.session?.id ?? '',
        prompt: (JSON.parse(attempt.request) as { prompt: string }).prompt,
      }));
      const captured = cli === 'claude' ? claudesRequests(room) : codexsRequests(room);
      const conversations = Map.groupBy(captured, ({ conversation }) => conversation);
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
      const runs = first.map(
        ({ prompt }) => /^The objective of the whole squad:\n[^]*?\n<\/checks>\n/.exec(prompt)?.[0],
      );
      expect(new Set(runs).size).toBe(1);
      expect(runs[0]).toContain(OBJECTIVE.trim());

      for (const [session, requests] of conversations) {
        for (const [index, { items }] of requests.entries()) {
          const before = requests[index - 1]?.items ?? [];
          expect(items.slice(0, before.length)).toEqual(before);
        }
        const items = requests.at(-1)?.items ?? [];
        const prompts = turns.filter((one) => one.session === session).map(({ prompt }) => prompt);
        const said = items.filter(isSaid).map(({ text }) => String(text).trimEnd());
        expect(said).toContain(prompts[0]);
        // Once the model has answered, it reads nothing but its tools and the next prompts: no word of the CLI, or of an earlier one.
        const answered = items.findIndex(({ role, type }) => role === 'assistant' || type === 'function_call');
        const later = answered === -1 ? [] : items.slice(answered).filter(isSaid);
        expect(later.map(({ text }) => String(text).trimEnd())).toEqual(prompts.slice(1));
      }

      const later = turns.filter((turn) => !first.includes(turn));
      expect(later.map(({ role }) => role).toSorted()).toEqual(['builder', 'reviewer']);
      for (const { role, prompt } of later) {
        expect(bytesOf(ownWords(prompt)), prompt).toBeLessThanOrEqual(MOST_OF_NEWS[role as keyof typeof MOST_OF_NEWS]);
      }

      for (const { tools } of captured) {
        const names = tools.map(({ name }) => String(name).replace('mcp__squad__', ''));
        // A planner hands nothing on.
        expect([TOOLS, TOOLS.filter((name) => name !== 'handoff')]).toContainEqual(names.toSorted());
        expect(bytesOf(JSON.stringify(tools))).toBeLessThanOrEqual(MOST_OF_TOOLS);
      }
    },
  );
});
