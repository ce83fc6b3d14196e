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
  /** Squad's part of the instructions. */
  readonly instructions: string;
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
      instructions: squadsIn(body),
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
      instructions: squadsIn(body),
    };
  });
}

/** From squad's first words to its last ones, in whatever text of the request they stand. */
function squadsIn(body: unknown): string {
  if (typeof body === 'string')
    return (
      /You are a member of a squad of[^]*?Your name in the squad is [^\n]*(?:\n\nYour shell runs [^]*?outside the sandbox\.)?/.exec(
        body,
      )?.[0] ?? ''
    );
  if (typeof body !== 'object' || body === null) return '';
  return (
    Object.values(body)
      .map(squadsIn)
      .find((text) => text !== '') ?? ''
  );
}

/** What a tool says of itself and of its fields. */
function toolText({ name, description, ...schema }: Fields): string {
  const { properties = {} } = (schema['input_schema'] ?? schema['parameters'] ?? {}) as {
    properties?: Readonly<Record<string, { readonly description?: string }>>;
  };
  const fields = Object.entries(properties).map(([field, { description: meaning = '' }]) => `- ${field}: ${meaning}`);
  return [`${String(name)}: ${String(description)}`, ...fields].join('\n');
}

/** The text without what another run has otherwise. */
function withoutChance(text: string, root: string): string {
  return text
    .replaceAll(/<output>\n[^]*?\n<\/output>/g, '<output>\n…\n</output>')
    .replaceAll(root, '<root>')
    .replaceAll(/\b[0-9a-f]{40}\b/g, '<commit>')
    .replaceAll(/\b[0-9a-f]{12}\b/g, '<short commit>')
    .replaceAll(/\b[0-9a-f]{8}(?:-[0-9a-f]{4,12}){4}\b/g, '<id>')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>')
    .replaceAll(/(Your name in the squad is builder-)\d/g, '$1<n>');
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

      for (const role of ['planner', 'builder', 'reviewer']) {
        const sessions = Object.values(
          Object.groupBy(
            turns.filter((one) => one.role === role),
            (one) => one.session,
          ),
        );
        const [longest = []] = sessions.toSorted((one, other) => (other?.length ?? 0) - (one?.length ?? 0));
        const requests = conversations.get(longest[0]?.session ?? '') ?? [];
        const said = (requests.at(-1)?.items ?? []).filter(isSaid).map(({ text }) => String(text).trimEnd());
        const prompts = said.filter((text) => longest.some(({ prompt }) => prompt.trimEnd() === text));
        const text = [
          ...['=== instructions', requests[0]?.instructions ?? ''],
          ...['=== tools', ...(requests[0]?.tools ?? []).map(toolText)],
          ...prompts.flatMap((prompt, index) => [`=== message ${index + 1} of squad`, prompt]),
        ].join('\n\n');
        await expect(`${withoutChance(text, room.engine.root)}\n`).toMatchFileSnapshot(`golden/${cli}-${role}.txt`);
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
