-- A `date` is a day without a zone, and `$as_of` is an instant. Compared as they are, the day would begin at midnight
-- UTC, in the evening before: the shop's own day is asked for. `ends_on` is the last day on which the coupons hold.
SELECT
    household_id,
    count(*) AS received,
    count(*) FILTER (WHERE ends_on >= cast($as_of AT TIME ZONE 'America/New_York' AS date)) AS running,
    cast($as_of AT TIME ZONE 'America/New_York' AS date) - max(starts_on) AS days_since_newest
FROM campaigns
GROUP BY household_id
