/**
 * What has to follow where a place comes to harm.
 * - `ledger`: what SQLite itself still reads of it decides.
 * - `needed`: a resume cannot do without it.
 * - `spare`: squad makes it again, or does without it.
 * - `a folder of squad’s`: the same, unless a person's link leads from there to nothing.
 * - `of a turn`: the turn is had again, or its task fails.
 * - `binding`: which state is the repository's. `consent`: what a person agreed to.
 * - `of git`: the person's repository, which squad does not repair.
 */
export type Weight =
  | 'ledger'
  | 'needed'
  | 'spare'
  | 'a folder of squad’s'
  | 'of a turn'
  | 'binding'
  | 'consent'
  | 'of git';

export interface Place {
  readonly kind: 'file' | 'folder';
  /** Below the root of the room. */
  readonly pattern: string;
  readonly weight: Weight;
}

const STATE = 'state/squad/repository-*';
/** The folders of runs at work. */
const WORK = `${STATE}/work`;
const NOTES = `${WORK}/*/.squad`;

function file(pattern: string, weight: Weight): Place {
  return { kind: 'file', pattern, weight };
}

function folder(pattern: string, weight: Weight): Place {
  return { kind: 'folder', pattern, weight };
}

export const PLACES: Readonly<Record<string, Place>> = {
  ledger: file(`${STATE}/squad.db`, 'ledger'),
  'ledger’s log': file(`${STATE}/squad.db-wal`, 'ledger'),
  'ledger’s index': file(`${STATE}/squad.db-shm`, 'ledger'),
  'body of a message': file(`${STATE}/blobs/*.json`, 'needed'),
  checkpoints: file(`${STATE}/checkpoints.db`, 'spare'),
  'log of checkpoints': file(`${STATE}/checkpoints.db-wal`, 'spare'),
  lock: file(`${STATE}/lock.db`, 'spare'),
  'name of the lock': file(`${STATE}/lock.json`, 'spare'),
  ballast: file(`${STATE}/ballast`, 'spare'),
  binding: file(`${STATE}/place.json`, 'binding'),
  consent: file(`${STATE}/trust.json`, 'consent'),
  'id of the repository': file('repository/.git/squad/id', 'binding'),
  backup: file(`${STATE}/backups/*.db`, 'spare'),
  'file of a backup': file(`${STATE}/backups/*.files/**/*.json`, 'spare'),
  'report of a run': file(`${STATE}/runs/*/{history,files}/*`, 'spare'),
  'list of a run': file(`${STATE}/runs/*/*.{md,json}`, 'spare'),
  'exit of a turn': file(`${STATE}/turns/*/exit`, 'of a turn'),
  'launch of a turn': file(`${STATE}/turns/*/launch.json`, 'of a turn'),
  'output of a turn': file(`${STATE}/turns/*/stdout`, 'of a turn'),
  'prompt of a turn': file(`${STATE}/turns/*/prompt`, 'of a turn'),
  'secrets of a turn': file(`${STATE}/turns/*/secrets.json`, 'of a turn'),
  'session of a runtime': file('state/squad/homes/*/sessions/*.json', 'of a turn'),
  'note of a folder': file(`${NOTES}/*.json`, 'spare'),
  'index of a folder': file(`${NOTES}/*.index`, 'spare'),
  'marker of an engine': file(`${NOTES}/engine`, 'spare'),
  'list of stores': file(`${NOTES}/stores`, 'spare'),
  'HEAD of run.git': file(`${NOTES}/run.git/HEAD`, 'spare'),
  'config of run.git': file(`${NOTES}/run.git/config`, 'spare'),
  'packed refs of run.git': file(`${NOTES}/run.git/packed-refs`, 'spare'),
  'ref of run.git': file(`${NOTES}/run.git/refs/**/*`, 'spare'),
  'object of run.git': file(`${NOTES}/run.git/objects/??/*`, 'spare'),
  'alternates of run.git': file(`${NOTES}/run.git/objects/info/alternates`, 'spare'),
  'linked object': file(`${NOTES}/objects/??/*`, 'spare'),
  'HEAD of a task’s folder': file(`${WORK}/*/*/.git/HEAD`, 'of a turn'),
  'index of a task’s folder': file(`${WORK}/*/*/.git/index`, 'of a turn'),
  'config of a task’s folder': file(`${WORK}/*/*/.git/config`, 'of a turn'),
  'alternates of a task’s folder': file(`${WORK}/*/*/.git/objects/info/alternates`, 'of a turn'),
  'moves of refs': file('state/squad/ref-moves/*/*', 'spare'),
  'branch of the run': file('repository/.git/refs/heads/squad/*', 'of git'),
  'kept ref of the run': file('repository/.git/refs/squad/*/*', 'of git'),
  'object of the repository': file('repository/.git/objects/??/*', 'of git'),

  'folder of messages': folder(`${STATE}/blobs`, 'needed'),
  'folder of backups': folder(`${STATE}/backups`, 'a folder of squad’s'),
  'folder of runs': folder(`${STATE}/runs`, 'a folder of squad’s'),
  'folder of a run': folder(`${STATE}/runs/*`, 'a folder of squad’s'),
  'folder of turns': folder(`${STATE}/turns`, 'of a turn'),
  'folder of a turn': folder(`${STATE}/turns/*`, 'of a turn'),
  'folder of work': folder(WORK, 'of a turn'),
  'folder of a run’s work': folder(`${WORK}/*`, 'of a turn'),
  'folder of notes': folder(NOTES, 'of a turn'),
  'run.git': folder(`${NOTES}/run.git`, 'spare'),
  'objects of run.git': folder(`${NOTES}/run.git/objects`, 'spare'),
  'refs of run.git': folder(`${NOTES}/run.git/refs`, 'spare'),
  'linked objects': folder(`${NOTES}/objects`, 'spare'),
  'folder of a task': folder(`${WORK}/*/[a-z_]*`, 'of a turn'),
  'git of a task': folder(`${WORK}/*/[a-z_]*/.git`, 'of a turn'),
  'scratch of git': folder('state/squad/git-scratch', 'a folder of squad’s'),
  'folder of moves': folder('state/squad/ref-moves', 'a folder of squad’s'),
  'homes of runtimes': folder('state/squad/homes', 'of a turn'),
  'squad’s folder in git': folder('repository/.git/squad', 'binding'),
  'kept refs of the run': folder('repository/.git/refs/squad', 'of git'),
  'state folder': folder(STATE, 'binding'),
};
