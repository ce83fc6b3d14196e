import type { ConflictedFile } from '../ports/workspaces.ts';
import { gitFailed, type GitCall } from './git-call.ts';
import { commonCall, type GitContext } from './git-context.ts';

const MOST_FILES = 50;
const EXCERPT_CHARACTERS = 4000;

type MergeAnswer =
  | { readonly type: 'merged'; readonly tree: string }
  | { readonly type: 'conflict'; readonly files: readonly ConflictedFile[]; readonly messages: readonly string[] };

/**
 * Merges in the object database only, so nothing is half done after a kill. git reads `.gitattributes` in `call.workTree`.
 */
export async function mergeTrees(
  context: GitContext,
  call: GitCall,
  ours: string,
  theirs: string,
): Promise<MergeAnswer> {
  const args = ['merge-tree', '--write-tree', '-z', '--name-only', '--messages', '--end-of-options', ours, theirs];
  const answer = await context.git.run(args, call);
  // 0: clean, 1: conflicts, otherwise: failed.
  if (answer.code !== 0 && answer.code !== 1) throw gitFailed(args, answer);
  const { tree, paths, messages } = parseMergeTree(answer.stdout);
  if (answer.code === 0) return { type: 'merged', tree };
  const files: ConflictedFile[] = [];
  for (const path of paths.slice(0, MOST_FILES)) {
    const blob = await context.git.run(['cat-file', 'blob', `${tree}:${path}`], commonCall(context));
    files.push({ path, excerpt: blob.code === 0 ? excerptOf(blob.stdout) : '' });
  }
  return { type: 'conflict', files, messages };
}

/** The `-z` form: the tree, the files, an empty field, then messages of (count, paths, kind, text). */
export function parseMergeTree(text: string): { tree: string; paths: readonly string[]; messages: readonly string[] } {
  const [tree = '', ...fields] = text.split('\0');
  const end = fields.indexOf('');
  const paths = end < 0 ? fields : fields.slice(0, end);
  const messages: string[] = [];
  const rest = end < 0 ? [] : fields.slice(end + 1);
  for (let at = 0; /^\d+$/.test(rest[at] ?? '');) {
    const count = Number(rest[at]);
    const [kind = '', message = ''] = rest.slice(at + 1 + count, at + 3 + count);
    if (kind.startsWith('CONFLICT')) messages.push(message.trim());
    at += count + 3;
  }
  return { tree: tree.trim(), paths: [...new Set(paths)], messages };
}

/** The conflicting lines with markers and line numbers, cut to a length that fits a prompt. */
export function excerptOf(text: string): string {
  const kept: string[] = [];
  let open = false;
  for (const [index, line] of text.split('\n').entries()) {
    if (/^<{7,}(?: |$)/.test(line)) {
      open = true;
      kept.push(`line ${index + 1}:`);
    }
    if (open) kept.push(line);
    if (/^>{7,}(?: |$)/.test(line)) open = false;
  }
  const excerpt = kept.join('\n');
  return excerpt.length > EXCERPT_CHARACTERS ? `${excerpt.slice(0, EXCERPT_CHARACTERS)}\n…` : excerpt;
}
