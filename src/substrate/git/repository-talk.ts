import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Conversation } from '../system/process/conversation.ts';
import { noteMover, type MovedRefs } from './ref-moves.ts';
import { gitFailed, isCommitId, type Git, type GitAnswer, type GitCall } from './git-call.ts';
import { requirePresent } from './require-present.ts';
import { syncRef } from './sync-ref.ts';

interface Commit {
  readonly tree: string;
  readonly parents: readonly string[];
}

/** Look-ups in a repository and moves of its refs, by two gits that stay: a process for each would take 3 ms instead of 0.2. */
export interface RepositoryTalk {
  /** The id of a commit, or of another object of it (`<ref>^{commit}`, `<commit>^{tree}`); undefined: there is none. */
  find(name: string): Promise<string | undefined>;
  /** undefined: there is no such commit. */
  commit(id: string): Promise<Commit | undefined>;
  /** The bytes of a file's content; undefined: there is no such object. */
  blob(id: string): Promise<Buffer | undefined>;
  /**
   * Moves or deletes a ref that only the engine moves, by compare-and-swap if `before` is given (empty: there is none). In the
   * repository of a person, the ref is on the disk then.
   */
  move(ref: string, to: string | null, before?: string): Promise<GitAnswer>;
  /** Makes refs that are not there yet, all or none. false: git refused. */
  create(refs: readonly (readonly [ref: string, to: string])[]): Promise<boolean>;
  close(): void;
}

const MISSING = Buffer.from(' missing\n');

/** `moves`: of a person's repository, where a lock that is left would stay. */
export function createTalk(git: Git, call: GitCall, moves?: MovedRefs): RepositoryTalk {
  const talk = startTalk(git, call, moves);
  if (call.durable !== true) return talk;
  const known = new Set<string>();
  return {
    ...talk,
    move: async (ref, to, before) => {
      const moved = await talk.move(ref, to, before);
      if (moved.code === 0 && to !== null) await syncRef(call.cwd, ref, known);
      return moved;
    },
    create: async (refs) => {
      const made = await talk.create(refs);
      if (made) for (const [ref] of refs) await syncRef(call.cwd, ref, known);
      return made;
    },
  };
}

function startTalk(git: Git, call: GitCall, moves?: MovedRefs): RepositoryTalk {
  // Commits never change.
  const commits = new Map<string, Commit>();
  const { read, close } = startReader(git, call);
  const mover = keepTalking(async () => git.converse(['update-ref', '--no-deref', '--stdin'], call));
  let noted: Promise<() => void> | undefined;
  const talk: RepositoryTalk = {
    find: async (name) => {
      const answer = await read(`info ${name}\n`, lineEnd);
      const [id = ''] = answer.toString().split(' ');
      return isCommitId(id) && !answer.includes(MISSING) ? id : undefined;
    },
    commit: async (id) => {
      const known = commits.get(id);
      if (known !== undefined) return known;
      const commit = parseCommit(contentOf('commit', await read(`contents ${id}\n`, contentEnd))?.toString());
      if (commit !== undefined) commits.set(id, commit);
      return commit;
    },
    blob: async (id) => contentOf('blob', await read(`contents ${id}\n`, contentEnd)),
    move: async (ref, to, before) => {
      const order = to === null ? `delete ${ref}` : `update ${ref} ${to}`;
      if (moves !== undefined) await (noted ??= noteMover(moves));
      const old = before === undefined ? '' : ` ${before === '' ? '0'.repeat(to?.length ?? 40) : before}`;
      const moved = await mover.ask(`start\n${order}${old}\ncommit\n`, committedEnd);
      if (moved !== undefined) return { code: 0, stdout: '', stderr: '' };
      // A process of its own says why. If git was killed, it may have left a lock, which can be no other git's.
      const isMoved = to !== null && (await talk.find(ref)) === to;
      if (isMoved) return { code: 0, stdout: '', stderr: '' };
      if (mover.wasKilled()) await rm(join(call.cwd, `${ref}.lock`), { force: true });
      const values = to === null ? ['-d', ref] : [ref, to];
      const answer = await git.run(
        ['update-ref', '--no-deref', ...values, ...(before === undefined ? [] : [before])],
        call,
      );
      if (answer.code === null) await rm(join(call.cwd, `${ref}.lock`), { force: true });
      return answer;
    },
    create: async (refs) => {
      if (moves !== undefined) await (noted ??= noteMover(moves));
      const orders = refs.map(([ref, to]) => `create ${ref} ${to}\n`).join('');
      return (await mover.ask(`start\n${orders}commit\n`, committedEnd)) !== undefined;
    },
    close: () => {
      close();
      mover.close();
      void noted?.then((takeBack) => takeBack());
    },
  };
  return talk;
}

/** Commits as they are, byte by byte, until it is closed. */
export function startCommitReader(git: Git, call: GitCall) {
  const { read, close } = startReader(git, call);
  return {
    read: async (commit: string): Promise<Buffer> => {
      const found = contentOf('commit', await read(`contents ${commit}\n`, contentEnd));
      if (found !== undefined) return found;
      throw gitFailed(['cat-file'], { code: null, stdout: '', stderr: '', problem: `the commit ${commit} is missing` });
    },
    close,
  };
}

/** Its answer that there is nothing counts only if the repository is there. */
function startReader(git: Git, call: GitCall) {
  const reader = keepTalking(async () => git.converse(['cat-file', '--batch-command'], call));
  /** Asks again if git was killed. */
  const read = async (...question: Parameters<Conversation['ask']>): Promise<Buffer> => {
    const answer = (await reader.ask(...question)) ?? (await reader.ask(...question));
    if (answer !== undefined) {
      if (answer.subarray(-MISSING.length).equals(MISSING)) requirePresent(call.gitDirectory ?? call.cwd);
      return answer;
    }
    requirePresent(call.gitDirectory ?? call.cwd);
    throw gitFailed(['cat-file'], { code: null, stdout: '', stderr: '', problem: 'it does not answer' });
  };
  return { read, close: () => reader.close() };
}

/** A conversation that begins with its first question, and again after the program has ended. */
function keepTalking(start: () => Promise<Conversation>) {
  let current: Promise<Conversation> | undefined;
  let last: Conversation | undefined;
  return {
    ask: async (...question: Parameters<Conversation['ask']>): Promise<Buffer | undefined> => {
      if (last !== undefined && last.state() !== 'running') current = undefined;
      current ??= start();
      last = await current;
      return last.ask(...question);
    },
    wasKilled: () => last?.state() === 'killed',
    close: () => last?.close(),
  };
}

function lineEnd(bytes: Buffer): number {
  return bytes.indexOf('\n') + 1;
}

function committedEnd(bytes: Buffer): number {
  const end = 'commit: ok\n';
  return bytes.includes(end) ? bytes.indexOf(end) + end.length : 0;
}

/** `<id> commit <size>`, the content and a line break; or one line if there is no such object. */
function contentEnd(bytes: Buffer): number {
  const head = lineEnd(bytes);
  const size = / \w+ (\d+)\n$/.exec(bytes.toString('latin1', 0, head))?.[1];
  const end = head + (size === undefined ? 0 : Number(size) + 1);
  return bytes.length >= end ? end : 0;
}

function contentOf(kind: 'commit' | 'blob', answer: Buffer): Buffer | undefined {
  const head = lineEnd(answer);
  return answer.subarray(0, head).includes(` ${kind} `) ? answer.subarray(head, -1) : undefined;
}

function parseCommit(text = ''): Commit | undefined {
  const header = text.split('\n\n', 1)[0] ?? '';
  const tree = /^tree ([0-9a-f]+)$/m.exec(header)?.[1];
  const parents = [...header.matchAll(/^parent ([0-9a-f]+)$/gm)].map(([, id = '']) => id);
  return tree === undefined ? undefined : { tree, parents };
}
