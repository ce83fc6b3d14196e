import { sha256Of } from '../../model/sha256.ts';
import { memberAt } from '../../model/mail/policy.ts';
import { randomUUID } from 'node:crypto';
import { isSquadError } from '../../model/errors.ts';
import type { MailRefusal } from '../../model/mail/refusal.ts';
import type { Mailbox, MailParty } from '../../substrate/ports/mailbox.ts';
import type { MailWords } from '../../model/mail/turn-file.ts';
import { otherActions, OTHER_ACTIONS } from './other-actions.ts';
import { READING_TOOLS } from './reading-tools.ts';
import { SENDING_TOOLS } from './sending-tools.ts';
import type { MailTool, ToolAnswer } from './tool.ts';
import type { ListedTool, ServedTools, ToolResult } from './wire.ts';

const TOOLS: readonly MailTool[] = [...SENDING_TOOLS, ...READING_TOOLS];
/** Each request to a model carries these. Everything else is an action of one further tool. */
const FIRST = ['ask', 'send', 'handoff'];

export interface MailServerPorts {
  readonly mail: Mailbox;
  readonly words: MailWords;
  /** Epoch ms. */
  now(): number;
  /** Called for every call of a tool. undefined: the turn is over. */
  bearer(): MailParty | undefined;
}

const OVER: MailRefusal = {
  reason: 'not_authorized',
  field: '',
  rule: 'comes from a turn that is over, or that another mail server serves; end your turn',
};

/** The mailbox as tools for one turn. Its token says who calls, and nothing else does. */
export function createMailTools(ports: MailServerPorts): ServedTools {
  const started = randomUUID();
  return {
    instructions: ports.words.server,
    list: () => toolsOf(ports),
    call: (id, name, given) => {
      const tool =
        name === OTHER_ACTIONS ? otherActions(othersOf(mine(ports))) : TOOLS.find((one) => one.name === name);
      if (tool === undefined) return undefined;
      return resultOf(call(ports, tool, given, keyOf([started, id, name, given])));
    },
  };
}

/** The tools that this member may use. The mailbox checks each message again. */
function mine(ports: MailServerPorts): MailTool[] {
  const party = ports.bearer();
  const policy = party && ports.mail.policy(party.runId);
  const verbs = (policy && memberAt(policy, party.address)?.verbs) ?? [];
  return TOOLS.filter(({ verb }) => verb === null || verbs.includes(verb));
}

/** Does not depend on the mail that waits: a change would cost the cache of a conversation. */
function othersOf(tools: readonly MailTool[]): MailTool[] {
  return tools.filter(({ name }) => !FIRST.includes(name));
}

/** Listed too while mail waits: `inbox` and `accept` if it is unread, and the tools that answer what this member was asked. */
function waitingTools(ports: MailServerPorts, tools: readonly MailTool[]): MailTool[] {
  const party = ports.bearer();
  if (party === undefined) return [];
  const { mail } = ports;
  const isUnread = mail.inbox(party).some(({ state }) => state === 'waiting');
  const asks = mail.status(party.runId).unanswered.filter(({ recipient }) => recipient === party.address);
  const actions = asks.flatMap(({ message }) => message.action ?? []);
  return tools.filter(({ name, answers }) =>
    answers.length === 0
      ? isUnread && ['inbox', 'accept'].includes(name)
      : answers.some((one) => actions.includes(one)),
  );
}

function toolsOf(ports: MailServerPorts): ListedTool[] {
  const tools = mine(ports);
  const first = tools.filter(({ name }) => FIRST.includes(name));
  const others = othersOf(tools);
  return [...first, otherActions(others), ...waitingTools(ports, others)].map((tool) => ({
    name: tool.name,
    description: tool.name === 'ask' ? ports.words.whenToAsk : tool.description,
    inputSchema: { type: 'object' as const, ...tool.schema() },
    annotations: tool.hints,
  }));
}

function call(ports: MailServerPorts, tool: MailTool, given: unknown, key: string): Called {
  try {
    const party = ports.bearer();
    if (party === undefined) return { ok: false, refusal: OVER };
    return tool.call({ mail: ports.mail, words: ports.words, party, now: () => ports.now() }, given, key);
  } catch (error) {
    // The agent may try again what the machine cannot do now. Anything else is a bug, which the client reports as one.
    if (isSquadError(error)) return { ok: false, problem: error.message };
    throw error;
  }
}

type Called = ToolAnswer | { readonly ok: false; readonly problem: string };

/** A repeated request is the same message. The number of a request alone could come from another server too. */
function keyOf(request: readonly unknown[]): string {
  return sha256Of(JSON.stringify(request));
}

function resultOf(called: Called): ToolResult {
  if (called.ok) return { content: textOf(JSON.stringify(called.content)), structuredContent: { ...called.content } };
  if ('problem' in called) return { isError: true, content: textOf(called.problem) };
  const { reason, field, rule } = called.refusal;
  const what = field === '' ? 'the message' : field;
  return {
    isError: true,
    content: textOf(`refused (${reason}): ${what} ${rule}`),
    structuredContent: { reason, field, rule },
  };
}

function textOf(text: string): ToolResult['content'] {
  return [{ type: 'text', text }];
}
