/** Longest name and path that the usual disks take, in bytes. */
const MOST_NAME = 255;
const MOST_PATH = 4095;

/** Whether git refuses to check out each commit with this path, whatever its settings are. */
export function isRefusedPath(path: string): boolean {
  return path.split('/').some((name) => name === '' || name === '.' || name === '..' || name.toLowerCase() === '.git');
}

/** Whether the usual disks have no place for this path. Some take more, so it says nothing of a file that is there. */
export function isTooLong(path: string): boolean {
  return bytesIn(path) > MOST_PATH || path.split('/').some((name) => bytesIn(name) > MOST_NAME);
}

/** As UTF-8. */
function bytesIn(text: string): number {
  let bytes = 0;
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    bytes += code < 0x80 ? 1 : code < 0x8_00 ? 2 : code < 0x1_00_00 ? 3 : 4;
  }
  return bytes;
}
