import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { READING_TOOLS } from '../../../src/cli/mcp/reading-tools.ts';
import { SENDING_TOOLS } from '../../../src/cli/mcp/sending-tools.ts';
import type { ToolAnswer } from '../../../src/cli/mcp/tool.ts';
import { mailWords } from '../../../src/engine/turn-mail.ts';
import type { ChangedPrompts } from '../../../src/prompts/render.ts';
import type { Json } from '../../../src/text/json.ts';
import type { MailPolicy } from '../../../src/model/mail/policy.ts';
import type { MailMessage } from '../../../src/model/mail/envelope.ts';
import type { MailRefusal } from '../../../src/model/mail/refusal.ts';
import { NO_FINGERPRINTS } from '../../../src/model/redaction/fingerprints.ts';
import { startMailServer, type McpClient } from '../../support/mcp-client.ts';
import { openMailRoom, turnOf, type MailRoom } from '../../substrate/ledger/mail/support.ts';

/** MAIN, A and B each have a turn under way. */
export const TURNS = { MAIN: 'm-1', A: 'a-1', B: 'b-1' } as const;
export type Member = keyof typeof TURNS;
const AGENTS: Readonly<Record<Member, string>> = { MAIN: 'main', A: 'a', B: 'b' };

export interface ToolRoom extends MailRoom {
  /** What a tool answers when this member's turn calls it. */
  call(member: Member, tool: string, given?: unknown, key?: string): ToolAnswer;
  /** As `call`; throws where it is refused. */
  done(member: Member, tool: string, given?: unknown): Readonly<Record<string, Json>>;
  /** As `done`, for what makes a message: its id. */
  made(member: Member, tool: string, given?: unknown): string;
  /** As `call`; throws where it is not refused. */
  refused(member: Member, tool: string, given?: unknown): MailRefusal;
  /** Of a message that was sent. */
  sent(answer: Readonly<Record<string, Json>>): MailMessage & { readonly fields: Json };
  /** Events of refusals, in the run and of nobody's tokens. */
  refusals(): readonly Json[];
}

export function openToolRoom(policy?: MailPolicy): ToolRoom {
  const room = openMailRoom(policy);
  for (const member of ['MAIN', 'A', 'B'] as const) room.turn(TURNS[member], AGENTS[member]);
  let calls = 0;
  const call: ToolRoom['call'] = (member, name, given, key) => {
    const tool = [...SENDING_TOOLS, ...READING_TOOLS].find((one) => one.name === name);
    if (tool === undefined) throw new Error(`there is no tool ${name}`);
    calls += 1;
    const desk = {
      mail: room.mail,
      words: mailWords({}),
      party: turnOf(member, TURNS[member]),
      now: () => room.clock.now(),
    };
    return tool.call(desk, given, key ?? `key-${calls}`);
  };
  const done: ToolRoom['done'] = (...given) => {
    const answer = call(...given);
    if (answer.ok) return answer.content;
    throw new Error(JSON.stringify(answer.refusal));
  };
  return {
    ...room,
    call,
    done,
    made: (...given) => idOf(done(...given)),
    refused: (...given) => {
      const answer = call(...given);
      if (!answer.ok) return answer.refusal;
      throw new Error(`not refused: ${JSON.stringify(answer.content)}`);
    },
    sent: (answer) => {
      const message = room.mail.message(idOf(answer));
      if (message === undefined) throw new Error('there is no such message');
      return { ...message, fields: JSON.parse(room.mail.bodyOf(message)) as Json };
    },
    refusals: () => room.ledger.events({}).flatMap(({ type, data }) => (type === 'mail-refused' ? [data] : [])),
  };
}

function idOf({ id }: Readonly<Record<string, Json>>): string {
  if (typeof id === 'string') return id;
  throw new Error('no message was made');
}

/** The file of a member's turn, as the engine leaves it. */
export function turnFile(room: MailRoom, member: Member, changed: ChangedPrompts = {}): string {
  const path = join(dirname(room.directory), `${member}.json`);
  const token = room.mail.issueTurnToken(room.lease, TURNS[member]);
  const file = { directory: room.directory, token, secrets: NO_FINGERPRINTS, words: mailWords(changed) };
  writeFileSync(path, JSON.stringify(file), { mode: 0o600 });
  return path;
}

/** A server for a member's turn, whose process does not outlive the test. */
export function serve(path: string, environment: Readonly<Record<string, string>> = {}): McpClient {
  const client = startMailServer(path, environment);
  onTestFinished(async () => {
    client.child.kill('SIGKILL');
    await client.ended;
  });
  return client;
}
