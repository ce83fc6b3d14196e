import { appendFileSync } from 'node:fs';

/** The points at which a crash could do harm: before and after each side effect. A closed list, so that tests can try all. */
export const FAILPOINTS = [
  'ledger.before-commit',
  'ledger.after-commit',
  'process.spawned',
  'process.before-go',
  'process.after-go',
  'attempt.claimed',
  'attempt.before-settle',
  'attempt.settled',
  'turn.files-written',
  'files.before-rename',
  'files.renamed',
  'graph.before-apply',
  'graph.applied',
  'graph.waiting',
  'graph.routed',
  'armory.stored',
  'service.before-engine',
  'service.before-slot',
  'messages.opened',
  'messages.submitted',
  'message.acted',
  'action.begun',
  'follow.asked',
  'follow.begun',
  'follow.decided',
  'follow.merge-asked',
  'follow.planned',
  'follow.posted',
  'follow.repeated',
  'forge.acted',
  'forge.answered',
  'forge.asked',
  'forge.decided',
  'forge.labelled',
  'forge.said',
  'forge.submitted',
  'review.opened',
  'review.submitted',
  'slot.submitted',
  'sprint.closed',
  'sprint.line',
  'sprint.opened',
  'sprint.submitted',
  'slot.recorded',
  'run.created',
  'run.defined',
  'submitted.based',
  'submitted.branch',
  'submitted.named',
  'submitted.recorded',
  'submitted.stored',
  'fork.prepared',
  'fork.recorded',
  'fork.kept',
  'pack.copied',
  'pack.written',
  'unpack.checked',
  'unpack.refs',
  'move.marked',
  'move.packed',
  'move.taken',
  'move.committed',
  'arrive.received',
  'arrive.checked',
  'arrive.marked',
  'arrive.cleared',
  'arrive.taken',
  'arrive.released',
  'operation.before-note',
  'operation.noted',
  'operation.onward',
  'repositories.brought',
  'repositories.opened',
  'repositories.placed',
  'repositories.pushed',
  'publish.before',
  'publish.closed',
  'publish.noted',
  'turn.ended',
  'git.before-folder',
  'git.after-folder',
  'git.folder-filled',
  'git.directory-moved',
  'git.before-rescue',
  'git.rescued',
  'git.before-removal',
  'git.half-removed',
  'git.removed',
  'git.made-cleared',
  'git.made-copied',
  'git.made-put',
  'git.original-copied',
  'git.original-kept',
  'git.original-noted',
  'git.spare-claimed',
  'git.spare-taken',
  'git.spare-moved',
  'git.spare-made',
  'git.moved-aside',
  'git.set-aside',
  'git.run-aside',
  'git.branch-created',
  'git.merged',
  'git.candidate-made',
  'git.before-checkout',
  'git.checked-out',
  'git.before-advance',
  'git.delivered',
  'git.advanced',
  'merge.ready',
  'merge.locked',
  'merge.written',
  'trust.before-rename',
  'mail.before-commit',
  'mail.after-commit',
  'mail.turn-file-written',
  'folder.before-rename',
  'folder.renamed',
  'keep.before-packed',
  'keep.packed',
  'keep.noted',
  'keep.output-dropped',
  'keep.ref-dropped',
  'keep.checkpoints-cut',
  'keep.copies-dropped',
  'keep.backup-dropped',
  'keep.run-dropped',
] as const;
export type FailpointName = (typeof FAILPOINTS)[number];

/** `throw-later`: an exception that no one can catch. `reject`: a promise that no one waits for. */
const ACTIONS = ['kill', 'throw', 'throw-later', 'reject'] as const;
type Action = (typeof ACTIONS)[number];
interface Armed {
  readonly action: Action;
  /** Fires at this pass of the point, from 1. */
  readonly at: number;
  passes: number;
}

const armed = new Map<FailpointName, Armed>();
/** File to which each pass appends the point's name, so that tests know which points a run passes. */
let trace: string | undefined;

/** Does nothing unless a test has armed this point. */
export function failpoint(name: FailpointName): void {
  if (trace !== undefined) appendFileSync(trace, `${name}\n`);
  if (armed.size === 0) return;
  const point = armed.get(name);
  if (point === undefined) return;
  point.passes += 1;
  if (point.passes !== point.at) return;
  const error = new Error(`failpoint ${name}`);
  if (point.action === 'throw') throw error;
  if (point.action === 'reject') return void Promise.reject(error);
  if (point.action === 'throw-later')
    return void setImmediate(() => {
      throw error;
    });
  process.kill(process.pid, 'SIGKILL');
  // No code after this line may run before the signal arrives.
  for (;;);
}

/**
 * Text such as `process.before-go=kill,ledger.before-commit:3=throw` (`:n` = the n-th pass). `trace=/path` appends the name of each point
 * that is passed to that file. Replaces earlier points; an empty text disarms all. Throws on an unknown name.
 */
export function armFailpoints(text: string): void {
  armed.clear();
  trace = undefined;
  for (const part of text.split(',').filter((item) => item !== '')) {
    if (part.startsWith('trace=')) {
      trace = part.slice('trace='.length);
      continue;
    }
    const match = /^([a-z.-]+)(?::(\d+))?=([a-z-]+)$/.exec(part);
    const name = FAILPOINTS.find((known) => known === match?.[1]);
    const action = ACTIONS.find((known) => known === match?.[3]);
    if (match === null || name === undefined || action === undefined) throw new Error(`unknown failpoint: ${part}`);
    armed.set(name, { action, at: Number(match[2] ?? 1), passes: 0 });
  }
}
