/** Longest name and path that the usual disks take, in bytes. */
const MOST_NAME = 255;
const MOST_PATH = 4095;

/** Whether git refuses to check out each commit with this path, whatever its settings are. */
export function isRefusedPath(path: string): boolean {
  return path.split('/').some((name) => name === '' || name === '.' || name === '..' || name.toLowerCase() === '.git');
}

/** Whether the usual disks have no place for this path. Some take more, so it says nothing of a file that is there. */
export function isTooLong(path: string): boolean {
  return Buffer.byteLength(path) > MOST_PATH || path.split('/').some((name) => Buffer.byteLength(name) > MOST_NAME);
}
