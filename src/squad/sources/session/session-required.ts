export { sessionRequired } from '../../../playbooks/session/session-required.ts';
