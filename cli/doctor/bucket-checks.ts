import { check, type Facts } from './facts.ts';

/** What must hold of the bucket where large payloads lie. */
export const bucketChecks = ({ bucketVersioning, bucketAccess, bucketLifecycle }: Facts) => ({
  versioned: check('The payload bucket keeps versions', bucketVersioning, (status) => [
    status === 'Enabled',
    status ?? 'off',
  ]),
  closed: check('Nothing in it can be made public', bucketAccess, (access) => {
    const { BlockPublicAcls, BlockPublicPolicy, IgnorePublicAcls, RestrictPublicBuckets } = access;
    const settings = [BlockPublicAcls, BlockPublicPolicy, IgnorePublicAcls, RestrictPublicBuckets];
    const on = settings.filter((setting) => setting === true).length;
    return [on === settings.length, `${on} of ${settings.length} blocks are on`];
  }),
  expiring: check('Its objects expire', bucketLifecycle, (rules) => {
    const days = rules.find(
      ({ Status, Expiration }) => Status === 'Enabled' && Expiration?.Days !== undefined,
    );
    return [days !== undefined, days === undefined ? 'no rule' : `after ${days.Expiration?.Days} days`];
  }),
});
