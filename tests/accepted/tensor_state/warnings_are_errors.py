"""Every warning is an error, from the first line on; a leaf is known before .grad is asked for, so none is raised."""

import warnings

warnings.simplefilter("error")
