import { usageError } from '../../model/errors.ts';
import { noSuch } from '../../model/unknown-name.ts';
import type { Json } from '../../text/json.ts';
import { plainLine } from '../../text/plain-text.ts';
import type { PoolRun, PoolRunState, PoolStore } from '../ports/pool.ts';
import type { PoolDatabase, Statements } from './database.ts';
import { deleteUnused, insertBundle } from './bundles.ts';
import { jsonOf, msOf, announce } from './statements.ts';

interface Row {
  id: string;
  name: string;
  repository: string;
  base: string;
  labels: string[];
  priority: number;
  submitted_by: string;
  about: Json;
  state: PoolRunState;
  why: string | null;
  epoch: number;
  worker: string | null;
  held: boolean;
  again: number | null;
  submitted_at: number;
  stored_at: number | null;
  status: Json;
}

const COLUMNS = `id, name, repository, base, labels, priority, submitted_by, about, state, why, epoch, worker,
  coalesce(state = 'running' and lease_until > clock_timestamp(), false) as held, status,
  ${msOf('again')} as again, ${msOf('submitted_at')} as submitted_at, ${msOf('stored_at')} as stored_at`;

/** The most of one sweep: the others follow when these have gone. */
const MOST_DUE = 1_000;

type RunVerbs = Pick<PoolStore, 'submit' | 'runs' | 'run' | 'removeRun' | 'due'>;

export function runVerbs(database: PoolDatabase): RunVerbs {
  return {
    submit: submitTo(database),
    runs: async () => {
      const rows = await database.rows<Row>(`select ${COLUMNS} from squad_pool.run order by submitted_at, id`);
      return rows.map(runOf);
    },
    run: async (name) => {
      const found = await database.rows<Row>(
        `select ${COLUMNS} from squad_pool.run where id = $1 or name = $1 order by id <> $1, state = 'removed', submitted_at desc`,
        [name],
      );
      return pickRun(database, name, found.map(runOf));
    },
    removeRun: async (run) => {
      await database.transaction(async (statements) => {
        await statements.change(
          `update squad_pool.run set state = 'removed', epoch = epoch + 1, worker = null, lease_until = null, again = null, manifest = '{}'
           where id = $1`,
          [run],
        );
        await statements.change('delete from squad_pool.page where run = $1', [run]);
        await statements.change('delete from squad_pool.command where run = $1', [run]);
        await deleteUnused(statements);
        await announce(statements, run);
      });
    },
    due: async () => {
      await database.change(
        `update squad_pool.run set state = 'queued', again = null
         where state = 'waiting' and again <= clock_timestamp()`,
      );
      await database.change(
        `update squad_pool.run set state = 'queued', why = 'its worker ' || worker || ' was lost', worker = null, lease_until = null
         where state = 'running' and lease_until < clock_timestamp()`,
      );
      const rows = await database.rows<Row>(
        `select ${COLUMNS} from squad_pool.run where state = 'queued' order by priority desc, submitted_at, id limit ${MOST_DUE}`,
      );
      return rows.map(runOf);
    },
  };
}

function submitTo(database: PoolDatabase): PoolStore['submit'] {
  return async (run, bundle) =>
    database.transaction(async (statements) => {
      const added = await statements.change(
        `insert into squad_pool.run (id, name, repository, base, about, labels, priority, submitted_by, manifest, page_bytes, pages)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) on conflict do nothing`,
        [
          ...[run.id, run.name, run.repository, run.base, jsonOf(run.about), run.labels, run.priority, run.submittedBy],
          ...[bundle.manifest, bundle.pages.pageBytes, bundle.pages.count],
        ],
      );
      if (added === 0) return knownAs(statements, run);
      await insertBundle(statements, run.id, 0, bundle);
      await announce(statements, run.id);
      return 'added';
    });
}

async function knownAs(statements: Statements, { id, name }: { id: string; name: string }): Promise<'known'> {
  const [row] = await statements.rows('select id from squad_pool.run where id = $1', [id]);
  if (row !== undefined) return 'known';
  throw usageError(
    `the pool has another run ${plainLine(name, 80)} of this repository`,
    'Give this one a name: `--name NAME`.',
  );
}

async function pickRun(database: PoolDatabase, name: string, found: readonly PoolRun[]): Promise<PoolRun> {
  const [first, ...others] = found;
  if (first === undefined) {
    const known = await database.rows<{ name: string }>(`select name from squad_pool.run where state <> 'removed'`);
    throw usageError(
      noSuch(
        'run',
        plainLine(name, 80),
        known.map((one) => one.name),
      ),
      'See `squad pool` for those of the pool.',
    );
  }
  if (first.id === name || others.every(({ state }) => state === 'removed')) return first;
  throw usageError(
    `the pool has ${found.length} runs ${plainLine(name, 80)}: ${found.map(({ id, repository }) => `${id} of ${plainLine(repository, 120)}`).join(', ')}`,
    'Name the one that you mean by its id.',
  );
}

function runOf({ submitted_by, submitted_at, stored_at, held, ...row }: Row): PoolRun {
  return { ...row, submittedBy: submitted_by, submittedAt: submitted_at, storedAt: stored_at, isHeld: held };
}
