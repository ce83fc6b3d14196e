/**
 * Whether all that was printed so far was taken by whoever reads it: mail counts as read only then. A pipe that is closed
 * (`| head`), or a terminal that is gone, took nothing.
 */
export async function isTaken(stdout: NodeJS.WriteStream): Promise<boolean> {
  if (stdout.destroyed || stdout.errored !== null) return false;
  return new Promise((resolve) => stdout.write('', (error) => resolve(error === null || error === undefined)));
}
