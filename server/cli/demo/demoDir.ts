import { single } from '../option.ts'
import { anyText } from '../optionValue.ts'

/** Not among the options of a configuration file: the demo reads none. */
export const demoDir = single(
  {
    name: 'dir',
    scope: 'demo',
    argument: '<dir>',
    group: 'Where:',
    about: 'folder to leave everything in; DIR-2, DIR-3, … where it holds something (default: a temporary one)',
  },
  anyText('a folder'),
)
