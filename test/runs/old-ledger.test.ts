import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import Database from 'better-sqlite3';
import { expect, it } from 'vitest';
import { checkLedger } from '../../src/cli/check-ledger.ts';
import { ledgerPath } from '../../src/substrate/ledger/index.ts';
import { MIGRATIONS } from '../../src/substrate/ledger/migrations.ts';
import { teachRowDigest } from '../../src/substrate/ledger/row-digest.ts';
import { git } from '../support/git.ts';
import { mailOf } from '../support/mail-of.ts';
import { openRunBench, turnsOf, type RunBench } from './run-bench.ts';
import { author, commits, verdict } from './run-script.ts';
import { newStateOf } from '../support/state.ts';

const STORED = join(import.meta.dirname, '../fixtures/old-ledger');
const NOW = MIGRATIONS.length;

/** Puts the stored run where the bench expects its own run. Returns the path of the ledger. */
function restore({ root, repository }: RunBench): string {
  rmSync(join(repository, '.git'), { recursive: true });
  git(repository, 'init', '-q', '-b', 'main');
  git(repository, 'config', 'user.name', 'Test');
  git(repository, 'config', 'user.email', 'test@example.invalid');
  git(repository, 'fetch', '-q', '--update-head-ok', join(STORED, 'repository.bundle'), '+refs/*:refs/*');
  git(repository, 'reset', '-q', '--hard', 'main');
  cpSync(join(STORED, 'sessions'), join(root, 'state/squad/homes/scripted/sessions'), { recursive: true });
  const directory = newStateOf(repository);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  for (const name of ['squad.db', 'checkpoints.db']) {
    writeFileSync(join(directory, name), gunzipSync(readFileSync(join(STORED, `${name}.gz`))), { mode: 0o600 });
  }
  const path = ledgerPath(directory);
  relocate(path, root);
  return path;
}

/** Moves the run's definition to this root, and the expiry of its mail by the time since the engine was killed. */
function relocate(path: string, root: string): void {
  const db = new Database(path);
  teachRowDigest(db);
  const trigger = String(db.prepare("SELECT sql FROM sqlite_schema WHERE name = 'event_never_changes'").pluck().get());
  const defined = String(db.prepare("SELECT data FROM event WHERE type = 'run-defined'").pluck().get());
  const { repository } = JSON.parse(defined) as { repository: { root: string } };
  const oldRoot = join(repository.root, '..');
  db.transaction(() => {
    db.exec('DROP TRIGGER event_never_changes');
    db.prepare("UPDATE event SET data = replace(data, ?, ?) WHERE type = 'run-defined'").run(oldRoot, root);
    db.exec('UPDATE event SET seal = row_digest(seq, stream, type, at, cause, epoch, data)');
    db.exec(trigger);
    db.prepare('UPDATE mail_delivery SET expires_at = expires_at + ? - (SELECT max(at) FROM event)').run(Date.now());
  })();
  db.close();
}

function tablesOf(path: string): unknown[] {
  const db = new Database(path, { readonly: true });
  try {
    return db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").pluck().all();
  } finally {
    db.close();
  }
}

it(
  'a run that the version before left in mid-run, with open mail, is migrated with a backup and ends as done',
  { timeout: 300_000 },
  async (test) => {
    const handOff = { to: ['builder'], task_id: 'TIDY', summary: 'Tidy up.', files: ['tidy.txt'] };
    const bench = openRunBench({
      script: [
        verdict(null, []),
        { when: '"summary":"Tidy up."', steps: commits({ 'tidy.txt': 'tidy\n' }) },
        author('slow', [{ mcp: 'squad', tool: 'handoff', arguments: handOff }, ...commits({ 'slow.txt': 'slow\n' })]),
        {
          ...author('answer-1-main', [{ answer: 'see the answer' }]),
          structured: { answer: 'green', doc_updated: false, doc_path: '', reason: 'Nothing needs to be written.' },
        },
        { when: '"answer":"green"', steps: commits({ 'colour.txt': 'green\n' }) },
      ],
    });
    test.onTestFinished(() => bench.end());
    const path = restore(bench);
    const before = checkLedger(path);
    expect(before).toMatchObject({ ok: true, schemaVersion: 3, problems: [] });

    // That version kept no record of who agreed.
    const ended = await bench.run(['resume', '--json', '--yes']);

    expect(ended.code, `${ended.stderr}${JSON.stringify(ended.lines.slice(-3))}`).toBe(0);
    const status = await bench.status();
    expect(status).toMatchObject({ outcome: 'done', failures: [] });
    expect(status.tasks.map(({ id, status: state, round }) => `${id} ${state} ${round}`)).toEqual(
      expect.arrayContaining(['page done 2', 'colour done 1', 'slow done 1', 'answer-1-main done 1']),
    );
    // The work that was delivered before, the answer to the open question, and the hand-off of a turn that was lost.
    const files = ['page.txt', 'colour.txt', 'slow.txt', 'tidy.txt'].map((name) => bench.fileOnBranch(name));
    expect(files).toEqual(['better', 'green', 'slow', 'tidy']);
    expect(turnsOf(ended, 'page')).toEqual([]);
    const { messages, status: mail } = mailOf(bench, status.runId);
    expect(messages).toEqual(
      expect.arrayContaining(['builder-2 → MAIN: ask/clarify', 'MAIN → builder-2: send/answer']),
    );
    expect(mail.unanswered).toEqual([]);
    expect(checkLedger(path)).toMatchObject({ ok: true, schemaVersion: NOW, problems: [], violations: [] });
    const backup = `${path}.backup-v3`;
    expect(checkLedger(backup)).toMatchObject({ ok: true, schemaVersion: 3, lastSeq: before.lastSeq, problems: [] });
    expect([tablesOf(backup), tablesOf(path)].map((tables) => tables.includes('message'))).toEqual([true, false]);
  },
);
