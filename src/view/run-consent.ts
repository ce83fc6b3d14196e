import { sha256Of } from '../model/sha256.ts';
import { RUN_EVENTS } from '../model/run.ts';
import type { Ledger, RunRow } from '../substrate/ports/ledger.ts';
import { isJsonObject, plainJson, type Json } from '../text/json.ts';
import { findDefinition } from './read-run.ts';

const TYPES = [RUN_EVENTS.defined, RUN_EVENTS.limitsRaised, 'operator-command'];

/**
 * The definition, raised limits and reloads of a run: all that decides what it starts and may use. Consent is to their
 * hash.
 */
export function consentContent(ledger: Pick<Ledger, 'events'>, runId: string): Json[] {
  return ledger.events({ stream: runId, types: TYPES }).flatMap(({ type, data }) => {
    if (type !== 'operator-command') return [data];
    return isJsonObject(data) && data['verb'] === 'reload' ? [reloadContent(data['data'] ?? null)] : [];
  });
}

/** A reload, without who gave it. */
function reloadContent(data: Json): Json {
  return { reload: data };
}

/**
 * The run that this one is a fork of, if all that this one is made of is that one's. Consent to that one is consent to this one then.
 * undefined: it is no fork, or the parent is gone or another one.
 */
export function sameParent(ledger: Pick<Ledger, 'events' | 'run'>, runId: string): string | undefined {
  const row = ledger.run(runId);
  if (row === undefined || row.parent === null) return undefined;
  const parent = ledger.run(row.parent.runId);
  if (parent === undefined) return undefined;
  const [own, others] = [workOf(ledger, row), workOf(ledger, parent)];
  if (own === undefined || own.definition !== others?.definition) return undefined;
  return own.amendments.every((one) => others.amendments.includes(one)) ? parent.id : undefined;
}

/** As text that can be compared. A fork has another name, and writes no folder. */
function workOf(ledger: Pick<Ledger, 'events'>, row: RunRow) {
  const found = findDefinition(ledger, row);
  if (found === undefined) return undefined;
  const { name: _name, folder: _folder, ...definition } = found;
  const text = (value: Json): string => JSON.stringify(ordered(value));
  return {
    definition: text(plainJson(definition)),
    amendments: consentContent(ledger, row.id).slice(1).map(text),
  };
}

/** Hash of that content. The order of keys does not matter. */
export function consentHash(content: readonly Json[]): string {
  return sha256Of(JSON.stringify(['squad-run-1', ...content.map(ordered)]));
}

function ordered(value: Json): Json {
  if (Array.isArray(value)) return value.map(ordered);
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value as Record<string, Json>).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(entries.map(([key, inner]) => [key, ordered(inner)]));
}
