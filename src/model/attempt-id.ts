/**
 * What the ids of a run's attempts begin with. They mark processes, and a marker is swept machine-wide: a run of the same
 * name in another repository must not be meant, hence the end of the run's own id. A dot is in no name, so no two can meet.
 */
export function attemptScope(runName: string, runId: string): string {
  return `${runName}.${runId.replaceAll('-', '').slice(-6)}`;
}

/** Id in the ledger of an attempt that the plan calls `<task>-<number>`. */
export function attemptId(scope: string, attempt: string): string {
  return `${scope}.${attempt}`;
}

/** What the plan calls an attempt of the ledger. */
export function attemptWithin(scope: string, id: string): string {
  return id.slice(scope.length + 1);
}
