import { findPackageJSON } from 'node:module';
import { readFileSync } from 'node:fs';
import { wrongEnvironment } from '../../../model/errors.ts';

const PACKAGES = ['@discordjs/core', '@discordjs/rest', '@discordjs/ws'];

/** Loads the libraries of Discord, which squad brings along for those only who ask for them. */
export async function loadLibrary() {
  try {
    const [core, rest, ws] = await Promise.all([
      import('@discordjs/core'),
      import('@discordjs/rest'),
      import('@discordjs/ws'),
    ]);
    return { core, rest, ws };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    const packages = wanted().join(' ');
    throw wrongEnvironment(
      `a channel of Discord needs ${PACKAGES.join(', ')}, which are not installed beside squad`,
      `Run \`npm install ${packages}\` where squad is installed (\`npm install --global\`, if it is installed so).`,
    );
  }
}

export type Library = Awaited<ReturnType<typeof loadLibrary>>;

/** With the versions that squad names. */
function wanted(): string[] {
  const path = findPackageJSON(import.meta.url);
  const text = path === undefined ? '{}' : readFileSync(path, 'utf8');
  const { peerDependencies: peers = {} } = JSON.parse(text) as { peerDependencies?: Record<string, string> };
  return PACKAGES.map((name) => (peers[name] === undefined ? name : `${name}@${peers[name]}`));
}
