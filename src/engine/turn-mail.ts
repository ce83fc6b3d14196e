import { existsSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { MAIL_SERVER_NAME } from '../model/armory.ts';
import type { Attempt } from '../model/attempt.ts';
import { addressOf, agentAt } from '../model/mail/address.ts';
import { MAIL_VERBS } from '../model/mail/kind.ts';
import type { MailPolicy } from '../model/mail/policy.ts';
import { ownRoutesOf } from '../model/mail/route.ts';
import { type MailWords, TURN_FILE, type TurnFile } from '../model/mail/turn-file.ts';
import { MAIN } from '../model/mail/vocabulary.ts';
import type { Playbook } from '../model/plan.ts';
import type { Redactor } from '../model/redaction/redactor.ts';
import type { RunDefinition } from '../model/run.ts';
import { storageError } from '../model/storage-error.ts';
import type { TurnEvent } from '../model/turn-event.ts';
import type { TurnRequest } from '../model/turn-request.ts';
import type { TurnResult } from '../model/turn-result.ts';
import { type ChangedPrompts, renderPrompt } from '../prompts/render.ts';
import type { Clock } from '../substrate/ports/clock.ts';
import type { Lease, Ledger } from '../substrate/ports/ledger.ts';
import { failpoint } from '../substrate/system/failpoint.ts';
import { ownFilesIn, requireOwnFiles } from '../substrate/system/process/own-files.ts';
import { defined } from '../text/defined.ts';
import type { Composition } from './compose.ts';

type Rules = Pick<Playbook<never>, 'tools' | 'routes' | 'longestAssignmentMs'>;

interface TurnMailPorts extends Pick<Composition, 'mailServer'> {
  readonly ledger: Pick<Ledger, 'mail'>;
  readonly lease: Lease;
  /** The folder with the ledger. */
  readonly directory: string;
  readonly redactor: Redactor;
  readonly words: MailWords;
  readonly clock: Pick<Clock, 'monotonic' | 'sleep'>;
  /** For a person to read. */
  onWarning(text: string): void;
}

/** Gives each turn a mail server of its own, which speaks as the turn's agent. */
export interface TurnMail {
  /** The request with that server; unchanged for an agent without a mailbox. */
  wire(attempt: Attempt, request: TurnRequest): TurnRequest;
  /** Writes the file that tells the server who it is, with a new secret. The first reader removes the file. */
  beforeSpawn(attempt: Attempt, turnDirectory: string): Promise<void>;
  onEvent(attemptId: string, event: TurnEvent): void;
  onSettled(attemptId: string, result: TurnResult): void;
}

/** The words of the servers, from the prompts of the run. */
export function mailWords(changed: ChangedPrompts | undefined): MailWords {
  const whenToAsk = renderPrompt('mail/when-to-ask', {}, changed);
  const information = renderPrompt('mail/information', {}, changed);
  return { server: renderPrompt('mail/server', { whenToAsk, information }, changed), whenToAsk, information };
}

/** If a server does not start, squad warns and the turn continues without mail. */
export function createTurnMail(ports: TurnMailPorts): TurnMail {
  const { ledger, lease, directory, redactor } = ports;
  /** Attempts whose runtime does not report whether the server started. */
  const unreported = new Set<string>();
  const isMember = (attempt: Attempt): boolean =>
    attempt.kind === 'turn' &&
    ledger.mail.policy(lease.runId)?.members.some(({ agent }) => agent === attempt.agent) === true;
  const fileOf = (attemptId: string): string => join(directory, 'turns', attemptId, TURN_FILE);
  const warn = (attemptId: string): void =>
    ports.onWarning(`the mail server of ${attemptId} did not start: its agent can neither read nor send mail`);
  return {
    wire: (attempt, request) => {
      if (!isMember(attempt)) return request;
      const { command, args } = ports.mailServer(fileOf(attempt.id));
      const transport = { type: 'stdio' as const, command, args: [...args], env: {} };
      return { ...request, mcp: [...request.mcp, { name: MAIL_SERVER_NAME, required: false, transport }] };
    },
    beforeSpawn: async (attempt, turnDirectory) => {
      if (!isMember(attempt)) return;
      const path = join(turnDirectory, TURN_FILE);
      await requireOwnFiles(ownFilesIn(ports.mailServer(path).args), ports.clock);
      const file: TurnFile = {
        directory,
        token: ledger.mail.issueTurnToken(lease, attempt.id),
        secrets: redactor.fingerprints(),
        words: ports.words,
      };
      try {
        await writeFile(path, JSON.stringify(file), { mode: 0o600 });
      } catch (error) {
        throw storageError(path, error);
      }
      failpoint('mail.turn-file-written');
    },
    onEvent: (attemptId, event) => {
      if (event.type !== 'session-announced') return;
      const status = event.mcp.find(({ name }) => name === MAIL_SERVER_NAME)?.status;
      if (status === 'failed') warn(attemptId);
      if (status === 'unknown') unreported.add(attemptId);
    },
    onSettled: (attemptId, { outcome }) => {
      const path = fileOf(attemptId);
      // A server that starts removes the file first.
      if (unreported.delete(attemptId) && outcome === 'completed' && existsSync(path)) warn(attemptId);
      // Its secret expired with the turn.
      rm(path, { force: true }).catch(() => undefined);
    },
  };
}

/**
 * Verbs and routes are the playbook's; `mail.routes` replaces its routes. Every member may write to MAIN, and MAIN to every member. If no
 * agent has the role main, a person is MAIN and may use every verb. An agent without verbs has no mailbox.
 */
export function mailPolicyOf(
  { agents, mail, options }: Pick<RunDefinition, 'agents' | 'mail' | 'options'>,
  playbook: Rules,
): MailPolicy {
  const everybody = [...new Set([MAIN, ...agents.flatMap((agent) => [addressOf(agent), agent.role])])];
  const members = agents.flatMap((agent) => {
    const verbs = [...playbook.tools(agent.role)];
    if (verbs.length === 0) return [];
    const address = addressOf(agent);
    const routes = ownRoutesOf(mail.routes, agent) ?? playbook.routes?.(agent.role) ?? [];
    const others = address === MAIN || routes === 'everybody' ? everybody : routes;
    const writesTo = [...new Set([MAIN, ...others])].filter((one) => one !== address);
    return [{ address, agent: agent.name, role: agent.role, verbs, writesTo }];
  });
  const person = { address: MAIN, agent: null, role: 'person', verbs: [...MAIL_VERBS], writesTo: everybody };
  const ttlMs = Math.ceil(mail.ttlMinutes * 60_000);
  const assignMs = playbook.longestAssignmentMs?.(options);
  const all = agentAt(agents, MAIN) === undefined ? [person, ...members] : members;
  return { members: all, ttlMs, ...defined({ assignMs }) };
}
