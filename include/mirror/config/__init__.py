"""mm2.properties, as MM2 reads it and with our own options: `load` gives the flows or says all that is wrong."""

from mirror.config.configuration import Configuration, load
from mirror.config.flows import Flow
from mirror.config.problems import Notice, Origin
from mirror.config.secrets import ClientSettings, Secret, known_as

__all__ = ["ClientSettings", "Configuration", "Flow", "Notice", "Origin", "Secret", "known_as", "load"]
