import { said } from '../../substrate/git/forge/remotes.ts';
import { refusalsOf, statusOf, unfitText } from '../../squad/pool/run-status.ts';
import type { PoolRun, SeenWorker } from '../../substrate/ports/pool.ts';
import { counted } from '../../text/counted.ts';
import { spanText } from '../../text/duration.ts';
import { plainLine } from '../../text/plain-text.ts';
import { renderTable } from '../render/table.ts';

export interface ShownPool {
  readonly shown: string;
  readonly workers: readonly SeenWorker[];
  readonly runs: readonly PoolRun[];
  readonly now: number;
  readonly columns: number | undefined;
}

/** A pool for people: its workers, and its runs with those first that wait for a person. */
export function poolLines({ shown, workers, runs, now, columns }: ShownPool): string[] {
  const live = runs.filter(({ state }) => state !== 'removed');
  const asking = live.filter(asks);
  return [
    `${shown}: ${counted(workers.filter(({ isAlive }) => isAlive).length, 'worker')}, ${counted(live.length, 'run')}` +
      (asking.length === 0 ? '' : `, ${asking.length} of them waiting for a person`),
    ...(workers.length === 0 ? [] : ['', ...workerTable({ workers, runs, now, columns })]),
    ...(live.length === 0 ? [] : ['', ...runTable({ workers, runs: live, now, columns })]),
  ];
}

function asks(run: PoolRun): boolean {
  return run.state === 'waiting' && statusOf(run)?.asks === true;
}

type Tables = Omit<ShownPool, 'shown'>;

function workerTable({ workers, runs, now, columns }: Tables): string[] {
  return renderTable({
    columns,
    head: ['WORKER', 'STATE', 'RUNS', 'LABELS', 'MACHINE', 'SQUAD'],
    rows: workers.map(({ name, isAlive, isDraining, seenAt, slots, labels, host, version }) => [
      plainLine(name, 63),
      isAlive ? (isDraining ? 'ends' : 'works') : `lost ${spanText(Math.max(0, now - seenAt))} ago`,
      `${runs.filter(({ worker, isHeld }) => worker === name && isHeld).length} of ${slots}`,
      labels.join(',') || '-',
      plainLine(host, 80),
      plainLine(version, 20),
    ]),
  });
}

const ORDER: Readonly<Record<PoolRun['state'], number>> = { waiting: 1, running: 2, queued: 3, over: 4, removed: 5 };

/** Runs of a pool, those first that wait for a person. */
export function runTable({ workers, runs, now, columns }: Tables): string[] {
  const place = (run: PoolRun): number => (asks(run) ? 0 : ORDER[run.state]);
  const sorted = runs.toSorted((a, b) => place(a) - place(b) || a.submittedAt - b.submittedAt);
  return renderTable({
    columns,
    cut: 'last',
    head: ['RUN', 'STATE', 'TASKS', 'WORKER', 'AGE', 'WHY'],
    rows: sorted.map((run) => {
      const status = statusOf(run);
      return [
        plainLine(run.name, 40),
        asks(run) ? 'asks' : run.state,
        status === undefined ? '-' : `${status.tasks.done}/${status.tasks.all}`,
        run.isHeld ? plainLine(run.worker ?? '-', 63) : '-',
        spanText(Math.max(0, now - run.submittedAt)),
        plainLine(whyOf(run, workers), 300),
      ];
    }),
  });
}

/** One line with all that a person has to know of it. */
export function whyOf(run: PoolRun, workers: readonly SeenWorker[]): string {
  const refusals = run.state === 'queued' ? refusalsOf(workers, run.name) : [];
  const unfit = run.state === 'queued' ? unfitText(run, workers) : undefined;
  return [unfit, ...refusals, run.why].find((text) => text !== undefined && text !== null) ?? said(run.repository);
}
