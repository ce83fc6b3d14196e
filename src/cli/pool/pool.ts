import { usageError } from '../../model/errors.ts';
import { statusOf } from '../../squad/pool/run-status.ts';
import type { PoolRun, SeenWorker } from '../../substrate/ports/pool.ts';
import { plainLine } from '../../text/plain-text.ts';
import { said } from '../../substrate/git/forge/remotes.ts';
import type { CommandContext, Options } from '../command-context.ts';
import { printResult } from '../output.ts';
import type { OfPool, PoolOptions } from './pool-flags.ts';
import { poolLines, runTable, whyOf } from './pool-lines.ts';
import { withPool } from './with-pool.ts';

/** Shows workers and runs of a pool. */
export async function pool(context: CommandContext, options: PoolOptions<'pool'>): Promise<void> {
  const { output } = context;
  const { workers, runs, shown } = await withPool(context, options, async ({ store, shown: address }) => {
    const [seen, all] = await Promise.all([store.workers(), store.runs()]);
    return { workers: seen, runs: all, shown: address };
  });
  if (options.json !== true) {
    for (const line of poolLines({ shown, workers, runs, now: Date.now(), columns: output.columns() }))
      output.line(line);
    return;
  }
  output.json({
    type: 'pool',
    pool: shown,
    workers: workers.map(({ instance: _instance, offers: _offers, ...worker }) => worker),
    runs: runs.map((run) => runFacts(run, workers)),
  });
}

function runFacts(run: PoolRun, workers: readonly SeenWorker[]) {
  const { about: _about, status: _status, repository, ...facts } = run;
  return { ...facts, repository: said(repository), status: statusOf(run) ?? null, why: whyOf(run, workers) };
}

/** As `runs` lists those of a repository. */
export async function runsOfPool(context: CommandContext, options: Options<'runs'> & OfPool): Promise<void> {
  if (options.since !== undefined)
    throw usageError(
      '--since counts the runs of a repository, and --pool shows those of a pool',
      'Leave one of them out.',
    );
  const { output } = context;
  const { workers, runs } = await withPool(context, options, async ({ store }) => {
    const [seen, all] = await Promise.all([store.workers(), store.runs()]);
    return { workers: seen, runs: all.filter(({ state }) => state !== 'removed') };
  });
  if (options.json === true) return runs.forEach((run) => output.json({ type: 'pool-run', ...runFacts(run, workers) }));
  if (runs.length === 0) return output.line('The pool has no runs.');
  for (const line of runTable({ workers, runs, now: Date.now(), columns: output.columns() })) output.line(line);
}

/** Lets a worker end once its turns have. */
export async function drain(context: CommandContext, name: string, options: PoolOptions<'pool'>): Promise<void> {
  await withPool(context, options, async ({ store }) => {
    requireWorker(await store.workers(), name);
    await store.drainWorker(name);
  });
  printResult(context.output, options, { type: 'worker-drains', worker: name }, [
    `${plainLine(name, 63)} takes no more, and hands its runs on once their turns have ended.`,
  ]);
}

/** Takes a worker or a run out. */
export async function remove(context: CommandContext, name: string, options: PoolOptions<'pool'>): Promise<void> {
  const what = await withPool(context, options, async ({ store }) => {
    if ((await store.workers()).some((worker) => worker.name === name)) {
      await store.removeWorker(name);
      return { type: 'worker-removed', worker: name };
    }
    const run = await store.run(name);
    await store.removeRun(run.id);
    return { type: 'run-removed', runId: run.id, name: run.name };
  });
  printResult(context.output, options, what, [
    what.type === 'worker-removed'
      ? `The worker ${plainLine(name, 63)} is out of the pool: another one takes its runs.`
      : `The run ${plainLine(name, 63)} is out of the pool. Its refs stay at the remote.`,
  ]);
}

function requireWorker(workers: readonly { readonly name: string }[], name: string): void {
  if (workers.some((worker) => worker.name === name)) return;
  throw usageError(
    `the pool has no worker ${plainLine(name, 80)}`,
    workers.length === 0 ? 'See `squad pool`.' : `It has ${workers.map((one) => plainLine(one.name, 63)).join(', ')}.`,
  );
}
