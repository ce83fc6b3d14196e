import { BUILT_IN_RUNTIMES } from '../../src/model/runtime-name.ts';
import type { KnownNames } from '../../src/model/settings.ts';
import { settingsSections } from '../../src/playbooks/registry.ts';
import { checkList } from '../../src/playbooks/stages/check-list.ts';

/** The names that `squad.yaml` may use on the command line. */
export const KNOWN_NAMES: KnownNames = {
  runtimes: BUILT_IN_RUNTIMES,
  configFiles: { scripted: ['script'] },
  sections: settingsSections({}),
  checkList,
};
