import { wrongEnvironment } from '../../model/errors.ts';
import { errorCode } from '../../model/storage-error.ts';
import { addLine, manifestIn } from './installed.ts';

/** Loads packages that only those have who asked for them. `purpose`: for people, such as “a channel of Discord”. */
export async function loadPeer<T>(packages: readonly string[], purpose: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (error) {
    if (errorCode(error) !== 'ERR_MODULE_NOT_FOUND') throw error;
    const { peerDependencies: peers = {} } = manifestIn();
    const wanted = packages.map((name) => `${name}@${peers[name] ?? 'latest'}`);
    throw wrongEnvironment(
      `${purpose} needs ${wanted.join(' ')}, which is not installed beside squad`,
      `Run ${addLine(wanted)}.`,
    );
  }
}
