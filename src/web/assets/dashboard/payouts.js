// Payouts.

import { pageOf } from './transfers.js';

export const show = pageOf('payouts');
