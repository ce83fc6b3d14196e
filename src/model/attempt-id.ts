/** Prefix of the ids of a run's attempts. The end of the run's id keeps runs of the same name in other repositories apart. */
export function attemptScope(runName: string, runId: string): string {
  return `${runName}.${runId.replaceAll('-', '').slice(-6)}`;
}

/** Id in the ledger of an attempt that the plan calls `<task>-<number>`. */
export function attemptId(scope: string, attempt: string): string {
  return `${scope}.${attempt}`;
}

/** The plan's name of an attempt in the ledger. */
export function attemptWithin(scope: string, id: string): string {
  return id.slice(scope.length + 1);
}

/** The plan's name of an attempt of any run: no name of a task has a dot. */
export function attemptName({ id }: { readonly id: string }): string {
  return id.slice(id.lastIndexOf('.') + 1);
}
