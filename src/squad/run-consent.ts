import type { Host } from '../engine/compose.ts';
import type { RunToAdmit } from '../engine/engine.ts';
import type { Limits, SomeLimits } from '../model/limits.ts';
import type { RunDefinition } from '../model/run.ts';
import { isSquadError } from '../model/errors.ts';
import { unknownRun } from '../model/unknown-name.ts';
import { isStorageError } from '../model/storage-error.ts';
import { notTrusted, agree } from './preflight/consent.ts';
import { readOwnSettings, type Registered } from './preflight/read-settings.ts';
import { itemsOfRun } from './preflight/run-items.ts';
import { describeRuntimes } from '../engine/runtime-choice.ts';
import type { TrustItem } from './preflight/trust-item.ts';
import { isRunTrusted, rememberRun, trustStoreOf, whileRemembering } from './preflight/trust-store.ts';
import { consentContent, consentHash, sameParent } from '../view/run-consent.ts';
import { findRun } from '../view/read-run.ts';
import type { Ledger } from '../substrate/ports/ledger.ts';
import { plainJson, type Json } from '../text/json.ts';
import { consentOf, type TrustOption } from './new-run.ts';
import { withLedger, type OpenedWorkspace } from './open-workspace.ts';

type Workspace = Pick<OpenedWorkspace, 'host' | 'composition' | 'repository' | 'directory'>;

/**
 * Records that a person on this machine has begun this run as it is, so that it can be resumed without a question. The consent itself
 * was given before. A run that needs none leaves no record.
 */
export async function recordRun(workspace: Workspace, { id, definition, limits, content }: RunToAdmit): Promise<void> {
  const items = await itemsIn(workspace, definition, limits);
  if (items.length > 0) await remember(workspace, id, content);
}

/** As `recordRun`, for one whose name is chosen as it is recorded: `record` calls what it gets with the run and its content. */
export async function recordingRun<T>(
  workspace: Workspace,
  { definition, limits }: Pick<RunToAdmit, 'definition' | 'limits'>,
  record: (agreed: (run: string, content: readonly Json[]) => void) => T,
): Promise<T> {
  const items = await itemsIn(workspace, definition, limits);
  if (items.length === 0) return record(() => undefined);
  const { host, repository, composition } = workspace;
  return whileRemembering(trustStoreOf(host, repository), (remember) =>
    record((run, content) => remember({ run, hash: consentHash(content), at: composition.clock.now() })),
  );
}

/**
 * Throws `not-trusted` unless this person agreed to exactly what this run is made of now. `agreed`: the hash of what they agreed to just
 * now. `raise`: limits that they give it in the same step, which become a part of that.
 */
export async function requireConsent(
  workspace: Workspace,
  run: RunToAdmit,
  { agreed, raise = {} }: { readonly agreed?: string | undefined; readonly raise?: SomeLimits | undefined },
): Promise<void> {
  const { id, content, definition, limits } = run;
  const hash = consentHash(content);
  if (hash !== agreed && !(await isKnown(workspace, id, hash))) {
    const items = await itemsIn(workspace, definition, limits);
    if (items.length > 0) throw notTrusted(items, nextFor(definition.name));
  }
  if (Object.keys(raise).length > 0) await remember(workspace, id, [...content, plainJson(raise)]);
}

/**
 * Asks for consent to a run that is there, if it is not known, and records it. Returns the hash of what was agreed to. Throws
 * `not-trusted` without consent. `again`: how to give it, where `squad resume` is not that.
 */
export async function agreeToRun(
  workspace: Workspace,
  runId: string,
  trust: TrustOption['trust'],
  again?: string,
): Promise<string | undefined> {
  const run = await withLedger(workspace, 'read', (ledger) => runToAdmit(ledger, runId));
  if (run === undefined) return undefined;
  const { id, content, definition, limits } = run;
  const hash = consentHash(content);
  if (await isKnown(workspace, id, hash)) return hash;
  const items = await itemsIn(workspace, definition, limits);
  if (items.length === 0) return hash;
  const ports = { ...workspace.composition, host: workspace.host, ...consentOf(trust) };
  const next = again ?? nextFor(definition.name);
  await agree(items, ports, { repository: workspace.repository, yes: trust === 'yes', next });
  await remember(workspace, id, content);
  return hash;
}

/** All that a recorded run starts and may use, as it is now. Throws `usage` if it is not there. */
export async function itemsOfStored(workspace: Workspace, runId: string): Promise<TrustItem[]> {
  const run = await withLedger(workspace, 'read', (ledger) => runToAdmit(ledger, runId));
  if (run === undefined) throw unknownRun(runId, []);
  return itemsIn(workspace, run.definition, run.limits);
}

/** Whether this person agreed to this run, or it needs no consent. */
export async function isAgreed(workspace: Workspace, runId: string): Promise<boolean> {
  try {
    await agreeToRun(workspace, runId, undefined);
    return true;
  } catch (error) {
    if (isSquadError(error) && error.code === 'not-trusted') return false;
    throw error;
  }
}

/** Runs `change`, which amends the run or makes another one of it. What it leaves is agreed to if what was there before is. */
export async function keepConsent<T>(
  workspace: Workspace,
  runId: string,
  change: () => Promise<T>,
  after: (done: T) => string,
): Promise<T> {
  const before = await withLedger(workspace, 'read', (ledger) => consentContent(ledger, runId));
  const wasKnown = await isKnown(workspace, runId, consentHash(before));
  const done = await change();
  const now = after(done);
  if (wasKnown)
    await remember(workspace, now, await withLedger(workspace, 'read', (ledger) => consentContent(ledger, now)));
  return done;
}

/** Whether there is a record of consent to this content of the run, or to the run that it is a whole fork of. */
async function isKnown(workspace: Workspace, runId: string, hash: string): Promise<boolean> {
  if (await isRunTrusted(trustStoreOf(workspace.host, workspace.repository), runId, hash)) return true;
  const parent = await withLedger(workspace, 'read', (ledger) => {
    const id = sameParent(ledger, runId);
    return id === undefined ? undefined : { id, hash: consentHash(consentContent(ledger, id)) };
  });
  return parent !== undefined && isKnown(workspace, parent.id, parent.hash);
}

function runToAdmit(ledger: Ledger, runId: string): RunToAdmit | undefined {
  const found = findRun(ledger, runId, null);
  if (found === undefined) return undefined;
  const { row, definition, limits } = found;
  return { id: row.id, definition, limits, content: consentContent(ledger, row.id) };
}

/** Needs consent on this machine: a run that another one has the record of. */
export async function itemsOfComing(
  workspace: Pick<Workspace, 'host' | 'composition'>,
  definition: RunDefinition,
  limits: Limits,
): Promise<TrustItem[]> {
  return itemsIn(workspace, definition, limits);
}

/** Records consent that was given before the run came here, if it came as it was then. */
export async function rememberAgreed(
  workspace: Workspace,
  { run, hash }: { readonly run: string; readonly hash: string },
): Promise<void> {
  const content = await withLedger(workspace, 'read', (ledger) => consentContent(ledger, run));
  if (consentHash(content) === hash) await remember(workspace, run, content);
}

async function itemsIn(
  { host, composition }: { readonly host: Pick<Host, 'configHome'>; readonly composition: Registered },
  definition: RunDefinition,
  limits: Limits,
): Promise<TrustItem[]> {
  const own = await readOwnSettings(composition, host);
  return itemsOfRun(definition, limits, own?.raw, describeRuntimes(composition));
}

/** If it cannot be stored, the next resume asks again; this run continues. */
async function remember(
  { host, repository, composition }: Workspace,
  run: string,
  content: readonly Json[],
): Promise<void> {
  const at = composition.clock.now();
  try {
    await rememberRun(trustStoreOf(host, repository), { run, hash: consentHash(content), at });
  } catch (error) {
    if (!isStorageError(error)) throw error;
  }
}

function nextFor(name: string): string {
  return `No person has agreed to this run on this machine. Read what it does, then run \`squad resume ${name} --yes\`, or \`squad resume ${name}\` at a terminal.`;
}
