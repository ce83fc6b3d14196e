import { sha256Of } from './sha256.ts';

/** One file of a content, by its path below the content's folder. */
export interface ContentFile {
  readonly path: string;
  readonly bytes: Uint8Array;
  readonly executable: boolean;
}

/** Files that a run keeps under their hash, so that they are the same in every turn. */
export interface Content {
  readonly hash: string;
  readonly files: readonly ContentFile[];
}

export function contentOf(files: readonly ContentFile[]): Content {
  return { hash: contentHash(files), files };
}

/** Every path, byte and executable bit counts; the order of the files does not. */
export function contentHash(files: readonly ContentFile[]): string {
  const entries = files
    .map(({ path, bytes, executable }) => [path, executable, sha256Of(bytes)] as const)
    .toSorted(([one], [other]) => (one < other ? -1 : 1));
  return sha256Of(JSON.stringify(['squad-content-1', ...entries]));
}
