/** Without what does not tell two files apart on every file system. `.` becomes the empty text. */
export function foldedPath(path: string): string {
  const steps = path
    .normalize('NFKC')
    .toLowerCase()
    .split(/[\\/]+/);
  return steps.filter((step) => step !== '' && step !== '.').join('/');
}
