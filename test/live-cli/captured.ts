import { expect } from 'vitest';
import type { EngineRoom } from '../support/engine.ts';
import type { FakeAnthropic } from './fake-anthropic.ts';
import type { FakeOpenai } from './fake-openai.ts';
import { turnsTaken, type Taken } from './whole-run-room.ts';

export type Fields = Readonly<Record<string, unknown>>;

/** One request to a model, in the words of no CLI. */
export interface Captured {
  readonly conversation: string;
  /** Messages, calls and their results. */
  readonly items: readonly Fields[];
  /** Tools of the mailbox. */
  readonly tools: readonly Fields[];
  /** Squad's part of the instructions. */
  readonly instructions: string;
}

/** A run on real CLIs, and the servers that stood for their models. */
export interface CapturedRoom {
  readonly engine: EngineRoom;
  readonly anthropic: Pick<FakeAnthropic, 'requests'>;
  readonly openai: Pick<FakeOpenai, 'requests'>;
}

/** By conversation, in their order. */
export function conversationsOf(room: CapturedRoom, runtime: string): Map<string, Captured[]> {
  const captured = runtime === 'claude' ? claudesRequests(room) : codexsRequests(room);
  return Map.groupBy(captured, ({ conversation }) => conversation);
}

function claudesRequests({ anthropic }: CapturedRoom): Captured[] {
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

function codexsRequests({ openai }: CapturedRoom): Captured[] {
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

/** The messages of a prompt. Their senders write at the same time. */
const MESSAGE = String.raw`From [^\n]+: [^\n]+(?:\n<message>\n(?:(?!</message>)[^])*</message>)?`;
const MAIL = new RegExp(String.raw`^${MESSAGE}(?:\n\n${MESSAGE})+`, 'gm');

/** The text without what another run has otherwise. */
function withoutChance(text: string, root: string): string {
  return text
    .replaceAll(/<output>\n[^]*?\n<\/output>/g, '<output>\n…\n</output>')
    .replaceAll(root, '<root>')
    .replaceAll(/\b[0-9a-f]{8}(?:-[0-9a-f]{4,12}){4}(?:-\d+)*\b/g, '<id>')
    .replaceAll(/\b[0-9a-f]{40}\b/g, '<commit>')
    .replaceAll(/\b[0-9a-f]{12}\b/g, '<short commit>')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z|\b\d{13}\b/g, '<time>')
    .replaceAll(/\b(DOC-|TC-[a-z-]+-)(?:\d{8}|\d{4}-\d\d-\d\d)\b/g, '$1<date>')
    .replaceAll(/\b(repository)-[0-9a-f]{16}\b/g, '$1-<id>')
    .replaceAll(/<root>\/state\/squad\/repository-<id>\/work\//g, '<folders>/')
    .replaceAll(MAIL, (mail) =>
      mail
        .split(/\n\n(?=From )/)
        .toSorted()
        .join('\n\n'),
    )
    .replaceAll(/(Your name in the squad is builder-)\d/g, '$1<n>');
}

/** Texts in a request that are neither the model's own nor a result of its tools. */
export function saidIn(items: readonly Fields[]): string[] {
  const isSaid = ({ role, text }: Fields): boolean => role !== 'assistant' && typeof text === 'string';
  return items.filter(isSaid).map(({ text }) => String(text).trimEnd());
}

/** The beginning of each conversation of the run. */
export const RUN = /^The objective of the whole squad:\n[^]*?\n<\/checks>\n/;

export function promptOf({ attempt }: Taken): string {
  return (JSON.parse(attempt.request) as { prompt: string }).prompt.trimEnd();
}

/**
 * Looks up what the real CLI sent to its model in these turns, and compares squad's words in it with `golden/<runtime>-<name>.txt`. `news`:
 * the instructions and tools are in the file of another name. `chance`: words that another run has otherwise.
 */
export async function expectCaptured(
  room: CapturedRoom,
  name: string,
  isOf: (taken: Taken) => boolean,
  { news = false, chance }: { readonly news?: boolean; readonly chance?: RegExp } = {},
): Promise<void> {
  const turns = turnsTaken(room.engine)
    .filter(isOf)
    .toSorted((one, other) => keyOf(one).localeCompare(keyOf(other), 'en', { numeric: true }));
  const runtimes = new Set(turns.map(({ attempt }) => attempt.runtime));
  const [runtime = ''] = runtimes;
  expect([name, runtimes.size]).toEqual([name, 1]);
  const conversations = conversationsOf(room, runtime);
  const requests = turns.map(({ result }) => conversations.get(result?.session?.id ?? '') ?? []);
  const begins = turns.findIndex((turn) => RUN.test(promptOf(turn)));
  const messages = turns.map((turn, index) => {
    const prompt = promptOf(turn);
    // A turn in another folder than the one before begins with that.
    const said = saidIn(requests[index]?.at(-1)?.items ?? []).findLast((text) => text.endsWith(prompt));
    expect([keyOf(turn), said]).toEqual([keyOf(turn), expect.any(String)]);
    return [`=== squad to ${keyOf(turn)}`, index === begins ? said : said?.replace(RUN, '<the run, as above>\n')];
  });
  const [first] = requests[0] ?? [];
  const frame = [
    ...['=== instructions', first?.instructions ?? ''],
    ...['=== tools', ...(first?.tools ?? []).map(toolText)],
  ];
  const text = withoutChance([...(news ? [] : frame), ...messages.flat()].join('\n\n'), room.engine.root);
  await expect(`${chance === undefined ? text : text.replaceAll(chance, '<chance>')}\n`).toMatchFileSnapshot(
    `golden/${runtime}-${name}.txt`,
  );
}

/** The attempt within its run. */
function keyOf({ attempt: { id } }: Taken): string {
  return id.slice(id.lastIndexOf('.') + 1);
}
