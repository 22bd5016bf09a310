/* Normal and Student's distribution: see statistics.h. */

#include <math.h>

#include "analyze/statistics.h"

#define SQRT_2    1.41421356237309504880
#define SQRT_2_PI 2.50662827463100050242

double stat_normal_cdf(double x)
{
        return erfc(-x / SQRT_2) / 2;
}

/*
 * A first value after Abramowitz and Stegun 26.2.23, good to 4.5e-4, then
 * Halley's steps on the distribution itself, which square and cube the error.
 */
double stat_normal_quantile(double p)
{
        double tail = p < 0.5 ? p : 1 - p, t, x;

        if (!(p > 0 && p < 1))
                return p == 0 ? -INFINITY : p == 1 ? INFINITY : (double)NAN;
        t = sqrt(-2 * log(tail));
        x = -(t - (2.515517 + t * (0.802853 + t * 0.010328)) /
                          (1 + t * (1.432788 + t * (0.189269 + t * 0.001308))));
        for (int i = 0; i < 3; i++) {
                double error = stat_normal_cdf(x) - tail;
                double step = error * SQRT_2_PI * exp(x * x / 2);

                x -= step / (1 + x * step / 2);
        }
        return p < 0.5 ? x : -x;
}

/* log(gamma(a + 1/2) / gamma(a)): Tricomi and Erdelyi (1951) where gammas would cancel */
static double distribution_log_gamma_half_step(double a)
{
        double square = a * a;

        if (a < 40)
                return lgamma(a + 0.5) - lgamma(a);
        return log(a) / 2 - 1 / (8 * a) + 1 / (192 * a * square) - 1 / (640 * a * square * square);
}

/*
 * The continued fraction of the incomplete beta function with b = 1/2, by the
 * modified method of Lentz (Thompson and Barnett, J. Comput. Phys. 64, 1986)
 */
static double distribution_beta_fraction(double a, double b, double x)
{
        const double tiny = 1e-300;
        double c = 1, d = 1 - (a + b) * x / (a + 1), f;

        d = 1 / (fabs(d) < tiny ? tiny : d);
        f = d;
        for (int m = 1; m < 100000; m++) {
                double step, even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
                double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));

                d = 1 + even * d;
                d = 1 / (fabs(d) < tiny ? tiny : d);
                c = 1 + even / c;
                c = fabs(c) < tiny ? tiny : c;
                f *= d * c;
                d = 1 + odd * d;
                d = 1 / (fabs(d) < tiny ? tiny : d);
                c = 1 + odd / c;
                c = fabs(c) < tiny ? tiny : c;
                step = d * c;
                f *= step;
                if (fabs(step - 1) < 1e-16)
                        break;
        }
        return f;
}

/* The normal deviate with the same tails: G. W. Hill, Algorithm 395, Comm. ACM 13 (1970) */
static double distribution_hill(double t, double df)
{
        double a = df - 0.5, b = 48 * a * a, z = sqrt(a * log1p(t * t / df)), s = z * z;

        return z + z * (s + 3) / b -
               z * (((4 * s + 33) * s + 240) * s + 855) / (10 * b * (b + 0.8 * s * s + 100));
}

/* P(|T| >= |t|): the incomplete beta function I_x(df/2, 1/2) at x = df / (df + t^2) */
double stat_t_two_sided(double t, double df)
{
        double a = df / 2, square = t * t, x, front;

        if (isnan(t) || !(df > 0))
                return (double)NAN;
        if (square == 0)
                return 1;
        if (isinf(square))
                return 0;
        if (df > 1e4)
                return 2 * stat_normal_cdf(-distribution_hill(t, df));
        x = df / (df + square);
        /* x^a (1-x)^b / B(a, b), with log x from its distance to 1 */
        front = exp(-a * log1p(square / df) + 0.5 * log(square / (df + square)) +
                    distribution_log_gamma_half_step(a) -
                    0.57236494292470008707 /* log gamma(1/2) */);
        if (x < (a + 1) / (a + 2.5))
                return front * distribution_beta_fraction(a, 0.5, x) / a;
        return 1 - front * distribution_beta_fraction(0.5, a, square / (df + square)) / 0.5;
}

double stat_t_cdf(double x, double df)
{
        double tails = stat_t_two_sided(x, df);

        return x < 0 ? tails / 2 : 1 - tails / 2;
}

/* From the normal quantile by bisection: monotone, and never outside of its bounds */
double stat_t_quantile(double p, double df)
{
        double tails = 2 * (p < 0.5 ? p : 1 - p), low = 0, high = 2, middle = 0;

        if (!(p > 0 && p < 1) || !(df > 0))
                return p == 0 ? -INFINITY : p == 1 ? INFINITY : (double)NAN;
        while (stat_t_two_sided(high, df) > tails && high < 1e300)
                high *= 2;
        for (int i = 0; i < 200; i++) {
                double next = low + (high - low) / 2;

                if (next == middle)
                        break;
                middle = next;
                if (stat_t_two_sided(middle, df) > tails)
                        low = middle;
                else
                        high = middle;
        }
        return p < 0.5 ? -middle : middle;
}
