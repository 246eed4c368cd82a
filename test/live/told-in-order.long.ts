/** What two webhooks of a target that fails now and then, one of them in strict order, are told while the chain forks: 5,000 schedules. */
import "./told-in-order.test.js";
