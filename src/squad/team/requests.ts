import type { Redactor } from '../../model/redaction/redactor.ts';
import { badInput, usageError } from '../../model/errors.ts';
import type { Attachment, SprintRequest } from '../../model/sprint/request.ts';
import { KINDS } from '../../model/sprint/kinds.ts';
import { requestStateOf, type Team } from '../../model/sprint/team.ts';
import { fingerprintOf } from '../../rules/sprint/fingerprint.ts';
import { intake, MOST_ATTACHMENTS, type Intake } from '../../rules/sprint/intake.ts';
import { uuid7 } from '../../substrate/system/clock/ids.ts';
import type { Ledger } from '../../substrate/ports/ledger.ts';
import type { Records } from '../../substrate/ports/records.ts';
import { sha256Of } from '../../model/sha256.ts';
import { defined } from '../../text/defined.ts';
import { plainJson } from '../../text/json.ts';
import { plainLine } from '../../text/plain-text.ts';
import { followTeam } from './follow-team.ts';
import { unknownRequest } from './unknown-request.ts';

/** Texts that join a request are kept within these, the newest ones: each version of the record holds them all. */
const MOST_JOINED = 100;
const MOST_JOINED_CHARACTERS = 256 * 1024;
/** A text that asks for the same again says nothing new. */
const MOST_SAME = 200;

export interface NewRequest {
  readonly text: string;
  readonly by: string;
  /** The sender's own id of it. */
  readonly key?: string | undefined;
  /** Their bytes are stored already. */
  readonly attachments: readonly Attachment[];
}

export interface AddedRequest {
  readonly id: string;
  /** `known`: sent before, under its key. `join`: an open request asks for it already. `reopen`: it is what blocked items wait for. */
  readonly how: 'new' | 'known' | 'join' | 'reopen';
  /** The items that it reopens. */
  readonly items: readonly string[];
}

/** Takes requests into a ledger. Two of them at once are one after the other: decided and written in one transaction. */
export function requestTaker(
  ledger: Ledger,
  { now, redactor }: { readonly now: () => number; readonly redactor: Pick<Redactor, 'text'> },
): (asked: NewRequest) => AddedRequest {
  const team = followTeam(ledger);
  return ({ text: given, by, key: own, attachments }) => {
    const key = own === undefined ? undefined : sha256Of(`squad-request\0${own}`).slice(0, 32);
    const asked = { text: redactor.text(given.trim()), by: plainLine(by, 80), ...defined({ key }) };
    const files = attachments.map((file) => ({ ...file, name: redactor.text(file.name) }));
    return ledger.transact(() => {
      const seen = team();
      return take(ledger, seen, intake(seen, { ...asked, attachments: files }), {
        ...asked,
        attachments: files,
        at: now(),
      });
    });
  };
}

type Taken = Pick<SprintRequest, 'text' | 'by' | 'key' | 'attachments' | 'at'>;

function take(ledger: Records, team: Team, intaken: Intake, asked: Taken): AddedRequest {
  switch (intaken.do) {
    case 'refuse':
      throw badInput(intaken.why, intaken.next);
    case 'known':
      return { id: intaken.request, how: 'known', items: [] };
    case 'join': {
      join(ledger, team, intaken.request, { ...asked, text: plainLine(asked.text, MOST_SAME) });
      return { id: intaken.request, how: 'join', items: [] };
    }
    case 'reopen': {
      const { request, items } = intaken;
      const id = request ?? create(ledger, team, asked, items[0]);
      if (request !== undefined) join(ledger, team, request, asked);
      for (const item of items) reopen(ledger, team, item, asked);
      return { id, how: 'reopen', items };
    }
    case 'new':
      return { id: create(ledger, team, asked), how: 'new', items: [] };
    default:
      return intaken satisfies never;
  }
}

function create(ledger: Records, team: Team, asked: Taken, reopens?: string): string {
  let id: string;
  do id = `r-${uuid7(asked.at).slice(-8)}`;
  while (team.request.has(id));
  const value: SprintRequest = {
    ...asked,
    fingerprint: fingerprintOf(asked.text),
    joined: [],
    ...defined({ reopens }),
  };
  ledger.writeRecord({ kind: KINDS.request, id, value: plainJson(value) });
  return id;
}

function join(ledger: Records, { request }: Team, id: string, asked: Taken): void {
  const before = request.get(id);
  if (before === undefined) return;
  const { attachments, ...text } = asked;
  const isThere = ({ sha256, name }: Attachment): boolean =>
    before.attachments.some((one) => one.sha256 === sha256 && one.name === name);
  const all = [...before.attachments, ...attachments.filter((one) => !isThere(one))];
  if (all.length > MOST_ATTACHMENTS) {
    const why = `${id} would have ${all.length} files with these, and a request takes at most ${MOST_ATTACHMENTS}`;
    throw badInput(why, `See its files with \`squad request show ${id}\`.`);
  }
  const value: SprintRequest = { ...before, attachments: all, joined: newest([...before.joined, text]) };
  ledger.writeRecord({ kind: KINDS.request, id, value: plainJson(value) });
}

function newest(joined: SprintRequest['joined']): SprintRequest['joined'] {
  const last = joined.slice(-MOST_JOINED);
  const size = (): number => last.reduce((sum, { text }) => sum + text.length, 0);
  while (last.length > 1 && size() > MOST_JOINED_CHARACTERS) last.shift();
  return last;
}

/** It is pending again, with all texts that it got so far. */
function reopen(ledger: Records, { itemState }: Team, id: string, { text, by, at }: Taken): void {
  const { inputs = [] } = itemState.get(id) ?? {};
  const kept = newest([...inputs.map((one) => ({ text: one, by, at })), { text, by, at }]).map((one) => one.text);
  ledger.writeRecord({ kind: KINDS.itemState, id, value: plainJson({ state: 'pending', inputs: kept, at }) });
}

/** A request that is over stays as it is: throws `usage`. Returns its items, which stay in the backlog: only planners take them out. */
export function cancelRequest(ledger: Ledger, id: string, at: number): readonly string[] {
  const team = followTeam(ledger);
  return ledger.transact(() => {
    const seen = team();
    const before = seen.request.get(id);
    if (before === undefined) throw unknownRequest(seen, id);
    const state = requestStateOf(seen, id, () => true);
    if (state === 'cancelled') throw usageError(`the request ${id} was cancelled before`, 'See `squad request list`.');
    if (state === 'done' || state === 'refused')
      throw usageError(`the request ${id} is ${state} already`, `See its answer: \`squad request show ${id}\`.`);
    const value: SprintRequest = { ...before, cancelledAt: at };
    ledger.writeRecord({ kind: KINDS.request, id, value: plainJson(value) });
    return seen.requestPlan.get(id)?.items ?? [];
  });
}
