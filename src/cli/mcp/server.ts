import { sha256Of } from '../../model/sha256.ts';
import { memberAt } from '../../model/mail/policy.ts';
import { randomUUID } from 'node:crypto';
import { isSquadError } from '../../model/errors.ts';
import type { MailRefusal } from '../../model/mail/refusal.ts';
import type { Mailbox, MailParty } from '../../substrate/ports/mailbox.ts';
import { INFORMATION } from './messages.ts';
import { READING_TOOLS } from './reading-tools.ts';
import { SENDING_TOOLS } from './sending-tools.ts';
import type { Hints, MailTool, ToolAnswer } from './tool.ts';

const TOOLS: readonly MailTool[] = [...SENDING_TOOLS, ...READING_TOOLS];

export interface MailServerPorts {
  readonly mail: Mailbox;
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

/** Sent in the answer to `initialize`; agents read it. */
export const INSTRUCTIONS =
  'The mailbox of your squad: the only way to reach its other members. The mailbox knows who you are from your turn. ' +
  INFORMATION;

export const NO_TOOL = 'there is no such tool; `tools/list` lists them';

/** The answer to a call of a tool. */
interface ToolResult {
  readonly isError?: true;
  readonly content: { type: 'text'; text: string }[];
  readonly structuredContent?: Record<string, unknown>;
}

interface ListedTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: { readonly type: 'object' } & Readonly<Record<string, unknown>>;
  readonly annotations: Hints;
}

/** The mailbox as tools for one turn. Its token says who calls, and nothing else does. */
export interface MailTools {
  list(): ListedTool[];
  /** undefined: there is no such tool. `id`: of the request. */
  call(id: string | number, name: string, given: unknown): ToolResult | undefined;
}

export function createMailTools(ports: MailServerPorts): MailTools {
  const started = randomUUID();
  return {
    list: () => toolsOf(ports),
    call: (id, name, given) => {
      const tool = TOOLS.find((one) => one.name === name);
      if (tool === undefined) return undefined;
      return resultOf(call(ports, tool, given, keyOf([started, id, name, given])));
    },
  };
}

/** The tools that this member may use. The mailbox checks each message again. */
function toolsOf(ports: MailServerPorts): ListedTool[] {
  const party = ports.bearer();
  const policy = party && ports.mail.policy(party.runId);
  const verbs = (policy && memberAt(policy, party.address)?.verbs) ?? [];
  const mine = TOOLS.filter((tool) => tool.verbs === null || tool.verbs.some((verb) => verbs.includes(verb)));
  return mine.map((tool) => ({
    name: tool.name,
    description: tool.description,
    inputSchema: { type: 'object' as const, ...tool.schema() },
    annotations: tool.hints,
  }));
}

function call(ports: MailServerPorts, tool: MailTool, given: unknown, key: string): Called {
  try {
    const party = ports.bearer();
    if (party === undefined) return { ok: false, refusal: OVER };
    return tool.call({ mail: ports.mail, party, now: () => ports.now() }, given, key);
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
