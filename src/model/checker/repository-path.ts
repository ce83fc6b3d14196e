/** A path from the root of the repository, of one that is written in a folder there; undefined: it is outside. */
export function pathFrom(folder: string, path: string): string | undefined {
  if (path.startsWith('/') || path.includes('\0')) return undefined;
  const parts: string[] = [];
  for (const part of `${folder}/${path}`.split('/')) {
    if (part === '' || part === '.') continue;
    if (part !== '..') parts.push(part);
    else if (parts.pop() === undefined) return undefined;
  }
  return parts.join('/');
}

export function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

export function isBelow(path: string, folder: string): boolean {
  return folder === '' || path === folder || path.startsWith(`${folder}/`);
}
