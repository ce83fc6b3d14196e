import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  linkSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';

interface Hand {
  /** Two files that are there, or were. */
  readonly file: string;
  readonly other: string;
  /** Beside the folder, where an agent could have put something. */
  readonly outside: string;
}

/** What an agent could do to a file that was put into its folder, so that the next look takes it for the same. */
export const FILE_STEPS: Readonly<Record<string, (hand: Hand) => void>> = {
  sameSizeAndTime: ({ file }) => {
    const { atime, mtime } = statSync(file);
    const text = readFileSync(file, 'utf8');
    writeFileSync(file, `X${text.slice(1)}`);
    utimesSync(file, atime, mtime);
  },
  append: ({ file }) => appendFileSync(file, 'more\n'),
  truncate: ({ file }) => truncateSync(file, 0),
  remove: ({ file }) => rmSync(file, { recursive: true }),
  removeFolder: ({ file }) => rmSync(dirname(file), { recursive: true }),
  swap: ({ file, other, outside }) => {
    renameSync(file, join(outside, 'swap'));
    renameSync(other, file);
    renameSync(join(outside, 'swap'), other);
  },
  thereAndBack: ({ file, outside }) => {
    renameSync(file, join(outside, 'moved'));
    renameSync(join(outside, 'moved'), file);
  },
  changedAway: ({ file, outside }) => {
    renameSync(file, join(outside, 'moved'));
    appendFileSync(join(outside, 'moved'), 'evil');
    renameSync(join(outside, 'moved'), file);
  },
  hardLinkOut: ({ file, outside }) => linkSync(file, join(outside, `held-${statSync(file).ino}`)),
  hardLinkIn: ({ file, outside }) => {
    writeFileSync(join(outside, 'own'), readFileSync(file));
    rmSync(file);
    linkSync(join(outside, 'own'), file);
  },
  symbolicLink: ({ file, other }) => {
    rmSync(file);
    symlinkSync(other, file);
  },
  attributes: ({ file }) => setAttribute(file),
};

export function setAttribute(path: string): void {
  const script = "import os,sys; os.setxattr(sys.argv[1], b'user.squad', b'evil')";
  execFileSync('python3', ['-c', script, path], { stdio: 'ignore' });
}
