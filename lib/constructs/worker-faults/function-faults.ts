import { Token } from 'aws-cdk-lib';
import type { Collector } from './collect.ts';

/** Lambda takes 4 KB of environment in all; half of it is left to the worker's own variables. */
const MAX_ENVIRONMENT_BYTES = 2_048;
const MAX_LAYERS = 5;
/** Names that Lambda keeps for itself. */
const RESERVED_NAME = /^(AWS_|LAMBDA_|_)/;
const VARIABLE_NAME = /^[A-Za-z][A-Za-z0-9_]+$/;

/** What the functions are given beside their code. */
export function checkFunctions({ props, settings, expect, whole }: Collector): void {
  const { telemetry, release } = props;
  const environment = (prop: string, variables: Readonly<Record<string, string>> = {}) => {
    const wrong = Object.keys(variables).filter(
      (name) => !VARIABLE_NAME.test(name) || RESERVED_NAME.test(name),
    );
    expect(
      wrong.length === 0,
      prop,
      `must have names of letters, digits and _ that Lambda does not keep for itself, has ${wrong.join(', ')}`,
      'Rename them',
    );
    const bytes = Object.entries(variables).reduce(
      (sum, [name, value]) =>
        sum + Buffer.byteLength(name) + (Token.isUnresolved(value) ? 0 : Buffer.byteLength(value)),
      0,
    );
    expect(
      bytes <= MAX_ENVIRONMENT_BYTES,
      prop,
      `must have at most ${MAX_ENVIRONMENT_BYTES} bytes, has ${bytes}: Lambda takes 4 KB in all`,
      'Put the rest into a secret or a parameter',
    );
  };
  expect(
    props.profile === undefined || props.profile === 'production' || props.profile === 'development',
    'profile',
    `must be production or development, is ${props.profile}`,
    'Correct the word: any other would leave the table unprotected',
  );
  expect(
    /^[A-Za-z][A-Za-z0-9_-]{0,99}$/.test(settings.workerName),
    'workerName',
    'must match [A-Za-z][A-Za-z0-9_-]{0,99}, because it is part of keys and metrics',
    'Set workerName, if the construct’s id is another name',
  );
  expect(
    release === undefined || (release.length > 0 && release.length <= 100),
    'release',
    'must have 1 to 100 characters',
    'Leave it out, or name the build',
  );
  environment('sourcesEnvironment', props.sourcesEnvironment);
  environment('telemetry.environment', telemetry?.environment);
  expect(
    (telemetry?.layers ?? []).length <= MAX_LAYERS,
    'telemetry.layers',
    `must be at most ${MAX_LAYERS}`,
    'Lambda takes no more',
  );
  expect(
    telemetry?.execWrapper === undefined || telemetry.execWrapper.startsWith('/'),
    'telemetry.execWrapper',
    `must be an absolute path, is ${telemetry?.execWrapper}`,
    'Layers lie below /opt',
  );
  for (const [name, own] of Object.entries(props.providerSettings ?? {})) {
    const prop = `providerSettings.${name}`;
    environment(`${prop}.environment`, own.environment);
    whole(`${prop}.memorySize`, own.memorySize, 128, 10_240, 'Lambda allows no other; the unit is MB');
    whole(
      `${prop}.reservedConcurrency`,
      own.reservedConcurrency,
      1,
      100_000,
      'With 0 no effect of the provider would ever be carried out',
    );
    expect(
      own.inVpc !== true || props.vpc !== undefined,
      `${prop}.inVpc`,
      'needs the worker’s vpc, of which there is none',
      'Pass vpc, or leave it out',
    );
  }
  expect(
    props.vpc !== undefined || (props.vpcSubnets === undefined && props.securityGroups === undefined),
    'vpc',
    'is required with vpcSubnets and securityGroups',
    'Pass the VPC',
  );
}
